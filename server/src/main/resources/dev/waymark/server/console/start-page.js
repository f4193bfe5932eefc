// Starts a thread with an agent.
import { get, newKey, post } from './api.js';
import { h, replaceChildren } from './dom.js';
import { session } from './session.js';

export class StartPage {
  #sent;

  constructor() {
    this.choices = h('div', { class: 'agents' }, h('p', { class: 'muted' }, 'Reading the agents …'));
    this.message = h('textarea', { id: 'first-message', rows: '4', placeholder: 'What should the agent do?', required: true });
    this.group = h('select', { id: 'group' }, h('option', { value: '' }, 'Only me'), session.caller.groups.map((name) => h('option', { value: name }, `Everyone in ${name}`)));
    this.problem = h('p', { class: 'problem', role: 'alert' });
    this.button = h('button', { class: 'primary', type: 'submit' }, 'Start');
    const form = h(
      'form',
      {
        class: 'start',
        onsubmit: (event) => {
          event.preventDefault();
          this.#start();
        },
      },
      h('h1', {}, 'New thread'),
      this.choices,
      h('label', { for: 'first-message' }, 'First message'),
      this.message,
      session.caller.groups.length > 0 ? [h('label', { for: 'group' }, 'Who can see it'), this.group] : null,
      this.problem,
      h('div', { class: 'row' }, this.button, h('a', { class: 'button', href: '#/' }, 'Cancel')),
    );
    this.message.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
    this.element = h('section', { class: 'scroller', 'aria-label': 'New thread' }, h('div', { class: 'column' }, form));
    this.#load();
  }

  close() {}

  async #load() {
    try {
      const { agents } = await get('/v1/agents');
      this.agent = agents.length > 0 ? chooser(this.choices, agents) : nameField(this.choices);
      this.choices.querySelector('input').focus();
    } catch (problem) {
      this.problem.textContent = problem.words ?? String(problem);
    }
  }

  async #start() {
    const body = { agent: this.agent?.() ?? '', message: this.message.value };
    if (this.group.value) body.group = this.group.value;
    const text = JSON.stringify(body);
    if (this.#sent?.text !== text) this.#sent = { text, key: newKey() };
    this.button.disabled = true;
    try {
      const { thread } = await post('/v1/threads', text, this.#sent.key);
      location.hash = `#/thread/${encodeURIComponent(thread)}`;
    } catch (problem) {
      this.problem.textContent = problem.words ?? String(problem);
      this.button.disabled = false;
    }
  }
}

function chooser(parent, agents) {
  replaceChildren(
    parent,
    h(
      'fieldset',
      {},
      h('legend', {}, 'Agent'),
      agents.map((agent, i) =>
        h(
          'label',
          { class: 'agent' },
          h('input', { type: 'radio', name: 'agent', value: agent.name, checked: i === 0 }),
          h('span', { class: 'name' }, agent.name),
          h('span', { class: 'muted', dir: 'auto' }, agent.description ?? ''),
        ),
      ),
    ),
  );
  return () => parent.querySelector('input:checked').value;
}

/** A field for the agent's name, for a server that lists no agents: it starts any agent that a worker knows. */
function nameField(parent) {
  const field = h('input', { id: 'agent-name', required: true, spellcheck: 'false', autocomplete: 'off' });
  replaceChildren(parent, h('label', { for: 'agent-name' }, 'Agent'), field);
  return () => field.value.trim();
}
