// A chat with the agent "host" over AG-UI, without a framework.
import { HttpAgent } from '@ag-ui/client';

const page = document.getElementById('page');

/** Creates an element: `h('p', { class: 'user' }, 'Hello')`. Strings become text, never markup. */
function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Shows a form, and resolves with its fields when it is sent. */
function ask(parent, title, fields, buttons) {
  return new Promise((resolve) => {
    const form = h(
      'form',
      {
        onsubmit: (event) => {
          event.preventDefault();
          form.remove();
          resolve({ ...Object.fromEntries(new FormData(form)), pressed: event.submitter.textContent });
        },
      },
      h('strong', {}, title),
      ...fields,
      h('div', { class: 'row' }, ...buttons.map((name) => h('button', {}, name))),
    );
    parent.append(form);
  });
}

const field = (name, label, value = '') => h('label', {}, `${label} `, h('input', { name, value }));

/** The server's address, the token and the conversation, which survive a reload. */
async function settings() {
  const kept = sessionStorage.getItem('settings');
  if (kept) return JSON.parse(kept);
  const given = await ask(page, 'Your server', [field('server', 'Address', 'http://127.0.0.1:8091'), field('token', 'Token')], ['Connect']);
  const all = { server: given.server, token: given.token, threadId: crypto.randomUUID() };
  sessionStorage.setItem('settings', JSON.stringify(all));
  return all;
}

const { server, token, threadId } = await settings();
const agent = new HttpAgent({ url: `${server}/v1/agui/host`, headers: { Authorization: `Bearer ${token}` }, threadId });

const todos = h('ul', { 'aria-label': 'To-dos' });
const messages = h('div', { role: 'log', 'aria-label': 'Conversation' });
const requests = h('div');
const problem = h('p', { class: 'problem', role: 'alert' });
const text = h('textarea', { rows: '2', 'aria-label': 'Message' });
const send = h('button', {}, 'Send');
const form = h('form', {}, text, send);
page.append(h('h1', {}, 'Table for four'), todos, messages, requests, problem, form);

/** The tools that this page runs for the agent. The agent's file declares them with `front_end: true`. */
const tools = {
  async pick_table({ guests }) {
    const { pressed } = await ask(requests, `Which table for ${guests}?`, [], ['Table 3', 'Table 5', 'Table 8', 'None']);
    if (pressed === 'None') throw new Error('the user wants none of the free tables');
    return { table: Number(pressed.replace('Table ', '')) };
  },
};

/** Answers one request of the agent, by the page itself or by the user. */
async function answer({ id, reason, message, metadata }) {
  let payload;
  if (reason === 'front-end-tool') {
    try {
      payload = { output: await tools[metadata.tool](metadata.args) };
    } catch (failure) {
      payload = { error: failure.message };
    }
  } else if (reason === 'approval') {
    const args = h('textarea', { name: 'args', rows: '3', 'aria-label': 'Arguments' });
    args.value = JSON.stringify(metadata.args);
    const given = await ask(requests, message, [args, field('reason', 'Reason')], ['Approve', 'Deny']);
    payload = { approved: given.pressed === 'Approve' };
    if (given.reason) payload.reason = given.reason;
    if (payload.approved && given.args !== JSON.stringify(metadata.args)) payload.args = JSON.parse(given.args);
  } else if (reason === 'unknown') {
    payload = { outcome: (await ask(requests, message, [], ['done', 'not-done', 'give-up'])).pressed };
  } else {
    payload = { answer: (await ask(requests, message, [field('answer', 'Answer')], ['Answer'])).answer };
  }
  return { interruptId: id, status: 'resolved', payload };
}

/** Runs the agent until its turn is over, and waits for the answer to each request. */
async function run(parameters = {}) {
  send.disabled = true;
  problem.textContent = '';
  let next = parameters;
  try {
    while (next !== undefined) {
      let interrupts = [];
      await agent.runAgent(
        { ...next, context: [{ description: 'The language of the page', value: navigator.language }] },
        {
          onRunFinishedEvent: ({ event }) => {
            interrupts = event.outcome?.interrupts ?? [];
          },
          onRunErrorEvent: ({ event }) => {
            problem.textContent = event.message;
          },
        },
      );
      const answers = await Promise.all(interrupts.map(answer));
      next = answers.length === 0 ? undefined : { resume: answers };
    }
  } catch (failure) {
    problem.textContent = failure.message;
  }
  send.disabled = false;
}

agent.subscribe({
  onMessagesChanged: ({ messages: all }) =>
    messages.replaceChildren(...all.filter(({ role, content }) => role !== 'tool' && content).map(({ role, content }) => h('p', { class: role }, content))),
  onStateChanged: ({ state }) =>
    todos.replaceChildren(...(state.workspace?.todos ?? []).map(({ content, status }) => h('li', {}, `${content}: ${status}`))),
});

form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (text.value.trim() === '') return;
  agent.messages.push({ id: crypto.randomUUID(), role: 'user', content: text.value });
  messages.append(h('p', { class: 'user' }, text.value));
  text.value = '';
  run();
});

// A run without a message shows the conversation so far, and its open requests. In a new chat, it ends at once.
run();
