// A page with a chat on the AG-UI client.
import { HttpAgent } from '@ag-ui/client';
import React from 'react';
import { createRoot } from 'react-dom/client';
import { Approval, Question, Talk, asked, headers, running, sleep, stopTurn } from './controls.mjs';

const h = React.createElement;
const agent = new HttpAgent({ url: `${asked.url}/v1/agui/${asked.agent}`, headers, threadId: asked.thread });
let thread;
let interrupts = [];
let show = () => {};

const run = async (parameters = {}) => {
  let over = false;
  interrupts = [];
  running(true);
  while (!over) {
    await agent.runAgent(parameters, {
      onRunStartedEvent: ({ event }) => {
        thread = event.metadata.waymark.thread;
        document.documentElement.dataset.thread = thread;
      },
      onRunFinishedEvent: (finished) => {
        over = true;
        interrupts = finished.interrupts ?? [];
      },
      onRunErrorEvent: () => {
        over = true;
      },
    }).catch(() => sleep(500));
    // If the server instance is gone, a run without input follows the turn on the next one.
    parameters = {};
    agent.pendingInterrupts = over ? agent.pendingInterrupts : [];
  }
  running(false);
  show();
};

/** All interrupts are answered in one request. */
const answers = new Map();
const resolve = (interruptId, payload) => {
  answers.set(interruptId, { interruptId, status: 'resolved', payload });
  if (interrupts.every(({ id }) => answers.has(id))) {
    run({ resume: [...answers.values()] });
    answers.clear();
  }
};

const Chat = () => {
  [, show] = React.useReducer((count) => count + 1, 0);
  React.useEffect(() => {
    agent.subscribe({ onMessagesChanged: () => show() });
    if ('again' in asked) run();
  }, []);
  return h('main', null,
    agent.messages.filter(({ role, content }) => role !== 'tool' && content)
      .map(({ id, content }) => h('p', { key: id }, content)),
    interrupts.map(({ id, reason, message, toolCallId }) =>
      reason === 'approval'
        ? h(Approval, { key: id, call: toolCallId, decide: (payload) => resolve(id, payload) })
        : h(Question, { key: id, question: message, answer: (answer) => resolve(id, { answer }) })),
    h(Talk, {
      say: (content) => {
        agent.addMessage({ id: crypto.randomUUID(), role: 'user', content });
        run();
      },
      stop: () => stopTurn(thread),
    }));
};

createRoot(document.getElementById('root')).render(h(Chat));
