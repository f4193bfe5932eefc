// The code that the chat pages share. The address of a page has the server, the token, the agent and the thread:
// page.html?url=…&token=…&agent=…&thread=…, and &again if the chat existed before.
import React from 'react';

const h = React.createElement;
const ANSWERS = { 'Which day?': 'Friday', 'Which seat?': '12A' };

export const asked = Object.fromEntries(new URLSearchParams(location.search));
export const headers = { Authorization: `Bearer ${asked.token}` };
export const sleep = (millis) => new Promise((resolve) => setTimeout(resolve, millis));

/** Tells the test whether a run is shown live. */
export const running = (is) => {
  document.title = is ? 'running' : 'idle';
};

export const Approval = ({ call, decide }) =>
  h('div', { className: 'interrupt', 'data-call': call },
    h('button', { onClick: () => decide({ approved: true }) }, 'Approve'),
    h('button', { onClick: () => decide({ approved: true, args: { cents: 4200 } }) }, 'Approve 4200'),
    h('button', { onClick: () => decide({ approved: false, reason: 'Too dear' }) }, 'Deny'));

export const Question = ({ question, answer }) =>
  h('button', { onClick: () => answer(ANSWERS[question]) }, `Answer ${question}`);

/** A form to talk, and a button to stop, for pages without a chat of their own. */
export const Talk = ({ say, stop }) =>
  h('form', {
      onSubmit: (event) => {
        event.preventDefault();
        say(event.target.elements.text.value);
        event.target.reset();
      },
    },
    h('input', { name: 'text' }),
    h('button', { type: 'button', onClick: stop }, 'Stop'));

/** Stops the turn of a thread, which closing its stream does not. */
export const stopTurn = async (thread) => {
  for (;;) {
    const response = await fetch(`${asked.url}/v1/threads/${encodeURIComponent(thread)}/stop`, {
      method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: '{}',
    }).catch(() => undefined);
    if (response && response.status < 500) {
      document.documentElement.dataset.stop = 'accepted';
      return;
    }
    await sleep(500);
  }
};
