// The list of threads. Threads that wait for a person come first.
import { threadLink } from './address.js';
import { get, wordsOf } from './api.js';
import { h, replaceChildren, showList } from './dom.js';
import { ago, shortId, statusWords } from './format.js';

const EVERY_MILLIS = 5_000;
const PAGE = 50;
const FILTERS = [
  { id: 'all', label: 'All' },
  { id: 'waiting', label: 'Waiting' },
  { id: 'open', label: 'Open' },
];

/** What a thread waits for, in a few words. */
export function waitingWords(waiting) {
  if (waiting.length === 0) return '';
  const [{ kind, tool }] = waiting;
  const first = { approval: `Approve ${tool}`, question: 'Answer a question', unknown: `Settle ${tool}` }[kind] ?? kind;
  return waiting.length === 1 ? first : `${first}, and ${waiting.length - 1} more`;
}

/** Omits the threads of subagents, which appear in their parent threads. */
function roots(threads) {
  const ids = new Set(threads.map((thread) => thread.thread));
  const hasParent = (id) => [...id.matchAll(/\//g)].some((slash) => ids.has(id.slice(0, slash.index)));
  return threads.filter((thread) => !hasParent(thread.thread));
}

export class ThreadList {
  #filter = 'all';
  #agent = '';
  #words = '';
  #threads = [];
  #next;
  #pages = 1;
  #selected = '';
  #timer;
  #agents = new Set();
  #loading = Promise.resolve();
  #problem;
  #isLoaded = false;

  /** @param events `onWaiting(count)` at each reading, and `onFirst()` once the list is known to have threads or none */
  constructor({ onWaiting, onFirst }) {
    this.onWaiting = onWaiting;
    this.onFirst = onFirst;
    this.tabs = h('div', { class: 'tabs', role: 'group', 'aria-label': 'Filter' });
    this.agents = h('select', { 'aria-label': 'Agent', onchange: () => this.#choose({ agent: this.agents.value }) });
    this.search = h('input', {
      type: 'search',
      placeholder: 'Search this list',
      'aria-label': 'Search this list',
      oninput: () => {
        this.#words = this.search.value.trim().toLowerCase();
        this.#show();
      },
    });
    this.list = h('ul', { class: 'threads' });
    this.note = h('p', { class: 'list-note muted', role: 'status' });
    this.more = h('button', { class: 'quiet more', onclick: () => this.#loadMore() }, 'Show more');
    this.element = h(
      'nav',
      { 'aria-label': 'Threads' },
      h('div', { class: 'filters' }, this.tabs, h('div', { class: 'row' }, this.search, this.agents)),
      this.list,
      this.note,
      this.more,
    );
    this.#showFilters();
    document.addEventListener('visibilitychange', () => this.#schedule(0));
    this.refresh();
  }

  /** Reads the list again. */
  refresh() {
    this.#loading = this.#loading.then(() => this.#load());
    return this.#loading;
  }

  select(thread) {
    this.#selected = thread;
    this.#show();
  }

  /** Called when a thread has changed. Reads the list again if the change affects what it shows. */
  changed({ thread, status }) {
    const known = this.#threads.find((each) => each.thread === thread);
    if (known === undefined || known.status !== status) this.refresh();
  }

  filter(number) {
    this.#choose({ filter: FILTERS[number].id });
  }

  /** Whether the server has no thread that the caller may see. */
  get isEmpty() {
    return this.#isLoaded && this.#threads.length === 0 && this.#filter === 'all' && this.#agent === '';
  }

  /** The thread before or after the selected one. */
  neighbour(step) {
    const all = this.#visible();
    const at = all.findIndex((thread) => thread.thread === this.#selected);
    return all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + step))]?.thread;
  }

  async #load() {
    clearTimeout(this.#timer);
    try {
      const waiting = await this.#read({ status: 'interrupted', open: 'true' }, 1);
      const rest = this.#filter === 'waiting' ? waiting : await this.#read(this.#filter === 'open' ? { open: 'true' } : {}, this.#pages);
      const known = new Set(waiting.threads.map((thread) => thread.thread));
      const others = rest.threads.filter((thread) => !known.has(thread.thread));
      others.sort((one, other) => Date.parse(other.updated) - Date.parse(one.updated));
      const wasEmpty = this.isEmpty;
      this.#threads = roots([...waiting.threads, ...others]);
      this.#next = rest.next;
      this.#threads.forEach((thread) => this.#agents.add(thread.agent));
      this.onWaiting(roots(waiting.threads).length);
      this.#problem = undefined;
      this.#isLoaded = true;
      if (wasEmpty !== this.isEmpty) this.onFirst();
    } catch (problem) {
      // The token has expired or was revoked.
      if (problem.status === 401) location.reload();
      this.#problem = problem;
    }
    this.#showFilters();
    this.#show();
    this.#schedule(EVERY_MILLIS);
  }

  async #read(query, pages) {
    const threads = [];
    let next;
    for (let page = 0; page < pages && (page === 0 || next !== undefined); page++) {
      const parameters = new URLSearchParams({ limit: PAGE, ...query });
      if (this.#agent) parameters.set('agent', this.#agent);
      if (next !== undefined) parameters.set('after', next);
      const answer = await get(`/v1/threads?${parameters}`);
      threads.push(...answer.threads);
      next = answer.next;
    }
    return { threads, next };
  }

  #schedule(millis) {
    clearTimeout(this.#timer);
    if (document.visibilityState === 'visible') this.#timer = setTimeout(() => this.refresh(), millis);
  }

  #choose({ filter = this.#filter, agent = this.#agent }) {
    this.#filter = filter;
    this.#agent = agent;
    this.#pages = 1;
    this.refresh();
  }

  #loadMore() {
    this.#pages++;
    this.refresh();
  }

  #visible() {
    if (this.#words === '') return this.#threads;
    return this.#threads.filter((thread) =>
      [thread.thread, thread.agent, thread.title ?? ''].some((text) => text.toLowerCase().includes(this.#words)),
    );
  }

  #showFilters() {
    showList(
      this.tabs,
      FILTERS.map(({ id, label }) => ({
        key: id,
        signature: String(id === this.#filter),
        render: () => h('button', { 'aria-pressed': String(id === this.#filter), onclick: () => this.#choose({ filter: id }) }, label),
      })),
    );
    const names = [...this.#agents].sort();
    if (this.agents.options.length !== names.length + 1) {
      replaceChildren(
        this.agents,
        h('option', { value: '' }, 'All agents'),
        names.map((name) => h('option', { value: name }, name)),
      );
      this.agents.value = this.#agent;
    }
  }

  #show() {
    const threads = this.#visible();
    showList(
      this.list,
      threads.map((thread) => ({
        key: thread.thread,
        signature: JSON.stringify([thread, ago(thread.updated), thread.thread === this.#selected]),
        render: () => this.#row(thread),
      })),
    );
    this.more.hidden = this.#next === undefined;
    this.note.textContent = this.#note(threads.length === 0);
  }

  #note(isEmpty) {
    if (this.#problem) return wordsOf(this.#problem);
    if (!isEmpty) return '';
    if (!this.#isLoaded) return 'Reading …';
    if (this.#words !== '') return 'No thread in this list matches.';
    return this.#filter === 'waiting' ? 'Nothing waits for you.' : 'No threads yet.';
  }

  #row(thread) {
    const isWaiting = thread.status === 'interrupted' && thread.open;
    return h(
      'li',
      {},
      h(
        'a',
        {
          href: threadLink(thread.thread),
          class: `${isWaiting ? 'waiting' : ''} ${thread.open ? '' : 'closed'}`,
          'aria-current': thread.thread === this.#selected ? 'page' : undefined,
        },
        h('bdi', { class: 'title' }, thread.title ?? shortId(thread.thread)),
        h('time', { datetime: thread.updated }, ago(thread.updated)),
        h(
          'span',
          { class: 'about' },
          h('bdi', {}, thread.agent),
          ' · ',
          isWaiting
            ? h('strong', {}, waitingWords(thread.waiting ?? []) || statusWords('interrupted'))
            : h('span', { class: `state ${thread.status}` }, thread.open ? statusWords(thread.status) : `closed, ${statusWords(thread.status)}`),
        ),
      ),
    );
  }
}
