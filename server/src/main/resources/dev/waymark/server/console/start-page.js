// Starts a thread with an agent.
import { get, sender, showProblem } from './api.js';
import { h, problemLine, replaceChildren } from './dom.js';
import { objectProblem } from './json-text.js';
import { session } from './session.js';
import { startThread } from './start-thread.js';

/** From so many agents on, one of them is searched. */
const MANY = 8;
const RECENT = 'waymark.agents';
const MOST_RECENT = 5;

const recentAgents = () => {
  try {
    return JSON.parse(localStorage.getItem(RECENT)) ?? [];
  } catch {
    return [];
  }
};

const noteAgent = (name) => localStorage.setItem(RECENT, JSON.stringify([name, ...recentAgents().filter((each) => each !== name)].slice(0, MOST_RECENT)));

export class StartPage {
  title = 'New thread';
  #post = sender();

  constructor() {
    this.choices = h('div', { class: 'agents' }, h('p', { class: 'muted' }, 'Reading the agents …'));
    this.message = h('textarea', { id: 'first-message', rows: '4', placeholder: 'What should the agent do?', required: true });
    this.group = h('select', { id: 'group' }, h('option', { value: '' }, 'Only me'), session.caller.groups.map((name) => h('option', { value: name }, `Everyone in ${name}`)));
    this.context = h('textarea', { id: 'context', class: 'mono', rows: '3', spellcheck: 'false', placeholder: '{ }' });
    this.problem = problemLine();
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
      h('label', { for: 'first-message' }, 'First message'),
      this.message,
      this.choices,
      session.caller.groups.length > 0 ? [h('label', { for: 'group' }, 'Who can see it'), this.group] : null,
      session.may('operate')
        ? h(
            'details',
            {},
            h('summary', {}, 'Context for the tools'),
            h('label', { for: 'context' }, 'JSON object, which tools read and the model does not see'),
            this.context,
          )
        : null,
      this.problem,
      h('div', { class: 'row start-bar' }, this.button, h('a', { class: 'button', href: '#/' }, 'Cancel')),
    );
    this.message.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
    this.element = h('section', { class: 'scroller', 'aria-label': 'New thread' }, h('div', { class: 'column' }, form));
    this.#load();
  }

  /** Called when the page is shown. */
  shown() {
    this.message.focus();
  }

  close() {}

  get draft() {
    return this.message.value === '' ? undefined : this.message;
  }

  async #load() {
    try {
      const { agents } = await get('/v1/agents');
      this.agent = agents.length > 0 ? chooser(this.choices, agents) : nameField(this.choices);
    } catch (problem) {
      showProblem(this.problem, problem);
    }
  }

  #start() {
    const body = { agent: this.agent?.() ?? '', message: this.message.value };
    if (this.group.value) body.group = this.group.value;
    const context = this.context.value.trim();
    if (body.message.trim() === '') {
      this.problem.textContent = 'Write a message first.';
      return;
    }
    this.problem.textContent = context === '' ? '' : objectProblem(context, 'The context');
    if (this.problem.textContent !== '') return;
    // As text: parsing would round large numbers.
    const text = `${JSON.stringify(body).slice(0, -1)}${context === '' ? '' : `,"context":${context}`}}`;
    noteAgent(body.agent);
    startThread(this.button, this.problem, () => this.#post('/v1/threads', text));
  }
}

/** Those that were started last come first. Agents that work for others come last, and folded: they are seldom started alone. */
function chooser(parent, agents) {
  const recent = recentAgents();
  const rank = ({ name }) => (recent.includes(name) ? recent.indexOf(name) : recent.length);
  const entries = agents.filter((agent) => !agent.subagent).sort((one, other) => rank(one) - rank(other));
  const helpers = agents.filter((agent) => agent.subagent);
  const first = entries.find((agent) => agent.lacks === undefined) ?? agents[0];
  replaceChildren(
    parent,
    h(
      'fieldset',
      {},
      h('legend', {}, 'Agent'),
      agents.length > MANY ? searchField(parent) : null,
      entries.map((agent) => choice(agent, first)),
      helpers.length === 0
        ? null
        : h(
            'details',
            { class: 'helpers', open: entries.length === 0 || first.subagent === true },
            h('summary', {}, `Agents that work for others (${helpers.length})`),
            helpers.map((agent) => choice(agent, first)),
          ),
    ),
  );
  return () => parent.querySelector('input:checked').value;
}

/** Shows only the agents whose name or description has these words, and the one that is chosen. */
function searchField(parent) {
  const show = ({ target }) => {
    const words = target.value.trim().toLowerCase();
    parent.querySelectorAll('.agent').forEach((row) => {
      row.hidden = !row.textContent.toLowerCase().includes(words) && !row.querySelector('input').checked;
    });
    if (words !== '') parent.querySelector('.helpers')?.setAttribute('open', '');
  };
  return h('input', { type: 'search', 'aria-label': 'Search agents', placeholder: 'Search agents', oninput: show });
}

function choice(agent, first) {
  return h(
    'label',
    { class: 'agent' },
    h('input', { type: 'radio', name: 'agent', value: agent.name, checked: agent === first }),
    h('span', { class: 'name' }, agent.name),
    h('span', { class: 'muted', dir: 'auto' }, agent.description ?? ''),
    agent.lacks ? h('span', { class: 'lacks' }, `It cannot answer yet: ${agent.lacks}. Set it in the worker’s environment, and restart the worker.`) : null,
  );
}

/** A field for the agent's name, for a server that lists no agents: it starts any agent that a worker knows. */
function nameField(parent) {
  const field = h('input', { id: 'agent-name', required: true, spellcheck: 'false', autocomplete: 'off' });
  replaceChildren(parent, h('label', { for: 'agent-name' }, 'Agent'), field);
  return () => field.value.trim();
}
