// The list of threads, in groups: what waits for a person comes first, the oldest on top.
import { listAddress, noteListAddress, threadLink } from './address.js';
import { get, untilReached, wordsOf } from './api.js';
import { h, replaceChildren, showList } from './dom.js';
import { ago, clock, exactTime, isToday, shortId, statusWords } from './format.js';
import { titleOf } from './origins.js';
import { session } from './session.js';
import { follow } from './stream.js';

const PAGE = 50;
const TYPING_MILLIS = 300;
/** How often the ages of threads are shown anew. */
const AGES_MILLIS = 30_000;
const FILTERS = [
  { id: 'all', label: 'All', query: {} },
  { id: 'waiting', label: 'Waiting', query: { status: 'interrupted', open: 'true' } },
  { id: 'open', label: 'Open', query: { open: 'true' } },
  { id: 'failed', label: 'Failed', query: { status: 'failed' } },
];

const daysAgo = (days) => {
  const midnight = new Date();
  midnight.setHours(0, 0, 0, 0);
  midnight.setDate(midnight.getDate() - days);
  return midnight.toISOString();
};
const TIMES = [
  { id: '', label: 'Any time', since: () => undefined },
  { id: 'today', label: 'Today', since: () => daysAgo(0) },
  { id: 'yesterday', label: 'Since yesterday', since: () => daysAgo(1) },
  { id: 'week', label: 'Last 7 days', since: () => daysAgo(7) },
  { id: 'month', label: 'Last 30 days', since: () => daysAgo(30) },
];

/** The groups, in the order in which they are listed. */
const GROUPS = [
  { id: 'yours', label: 'Waits for you', icon: '!' },
  { id: 'others', label: 'Waits for others', icon: '…' },
  { id: 'running', label: 'Running', icon: '▸' },
  { id: 'today', label: 'Today', icon: '•' },
  { id: 'earlier', label: 'Earlier', icon: '◦' },
  { id: 'failed', label: 'Failed', icon: '✕' },
];

const isWaiting = ({ status, open }) => status === 'interrupted' && open;

function groupOf(thread) {
  if (isWaiting(thread)) return session.isAwaited(thread.waiting) ? 'yours' : 'others';
  if (thread.open && thread.status === 'running') return 'running';
  if (thread.status === 'failed') return 'failed';
  return isToday(thread.updated) ? 'today' : 'earlier';
}

/** What a thread waits for, in a few words. */
function waitingWords(waiting) {
  if (waiting.length === 0) return statusWords('interrupted');
  const [{ kind, tool, until }] = waiting;
  const first = { approval: `Approve ${tool}`, question: 'Answer a question', unknown: `Settle ${tool}` }[kind] ?? kind;
  const more = waiting.length === 1 ? '' : `, and ${waiting.length - 1} more`;
  return `${first}${more}${until === undefined ? '' : `, until ${clock(until)}`}`;
}

/** Whether a request is for the approval of a call of this tool. */
export const isApproval = (request, tool) => request.kind === 'approval' && request.tool === tool;

/** Since when a thread has waited; undefined if it does not. */
const sinceOf = (thread) => (thread?.waiting.length > 0 ? Math.min(...thread.waiting.map(({ since }) => Date.parse(since))) : undefined);

/** A thread that is shown, as a row of the list. */
function rowOf({ thread, status, open, agent, at, messages, pending, error }) {
  return { thread, status, open, agent, updated: at ?? new Date().toISOString(), title: titleOf(messages), waiting: pending, error };
}

/** Omits the threads of subagents, which appear in their parent threads. */
function roots(threads) {
  const ids = new Set(threads.map((thread) => thread.thread));
  const hasParent = (id) => [...id.matchAll(/\//g)].some((slash) => ids.has(id.slice(0, slash.index)));
  return threads.filter((thread) => !hasParent(thread.thread));
}

export class ThreadList {
  #filter = FILTERS[0];
  #threads = [];
  /** What the stream has sent last, and the pages after it. */
  #first = { threads: [], waiting: [], waitingCount: 0 };
  #older = [];
  #next;
  #selected = '';
  /** Since when the thread has waited that was looked at last: who skips a request goes on with the one after it. */
  #seen = 0;
  /** The row of the thread that is shown, which stays in the list although a filter or the length of the list omits it. */
  #shown;
  #missed;
  #agents = new Set();
  #endStream = () => {};
  #typing;
  #problem;
  /** Whether nothing has arrived yet for the filters that are chosen. */
  #isReading = true;

  #hasLoaded = () => {};
  /** Resolves as soon as the list is known. */
  loaded = new Promise((resolve) => {
    this.#hasLoaded = resolve;
  });

  /** @param events `onWaiting(count)` at each change, and `onFirst()` once the list is known to have threads or none */
  constructor({ onWaiting, onFirst }) {
    this.onWaiting = onWaiting;
    this.onFirst = onFirst;
    const chosen = () => this.refresh();
    this.tabs = h('div', { class: 'tabs', role: 'group', 'aria-label': 'Filter' });
    this.agents = h('select', { 'aria-label': 'Agent', onchange: chosen }, h('option', { value: '' }, 'All agents'));
    this.times = h('select', { 'aria-label': 'Changed', onchange: chosen }, TIMES.map(({ label }) => h('option', {}, label)));
    this.owners = h(
      'select',
      { 'aria-label': 'Owner', onchange: chosen },
      h('option', { value: '' }, 'All owners'),
      h('option', { value: 'owner' }, 'Mine'),
      (session.caller.groups ?? []).map((name) => h('option', { value: `group ${name}` }, `Group ${name}`)),
    );
    this.search = h('input', {
      type: 'search',
      placeholder: 'Search threads',
      'aria-label': 'Search threads',
      title: 'Finds ids and agents, and words at the beginning of first and newest messages',
      maxlength: '200',
      oninput: () => {
        clearTimeout(this.#typing);
        this.#typing = setTimeout(chosen, TYPING_MILLIS);
      },
    });
    this.list = h('div', { class: 'threads' });
    this.note = h('p', { class: 'list-note muted', role: 'status' });
    this.more = h('button', { class: 'quiet more', onclick: () => this.#loadMore() });
    const mayDiffer = session.caller.subject !== undefined && (session.may('operate') || session.caller.groups.length > 0);
    this.element = h(
      'nav',
      { 'aria-label': 'Threads' },
      h(
        'div',
        { class: 'filters' },
        this.tabs,
        this.search,
        h('div', { class: 'row' }, this.agents, this.times, mayDiffer ? this.owners : null),
      ),
      this.list,
      this.note,
      this.more,
    );
    this.#readAddress();
    this.#showFilters();
    this.#readAgents();
    document.addEventListener('visibilitychange', () => (document.visibilityState === 'visible' ? this.#follow() : this.#endStream()));
    setInterval(() => this.#show(), AGES_MILLIS);
    this.#follow();
  }

  /** Reads the list with the filters that are chosen now. What was listed stays, dimmed, until there is an answer. */
  refresh() {
    this.#older = [];
    this.#next = undefined;
    this.#isReading = true;
    this.#show();
    this.#noteAddress();
    this.#follow();
  }

  #readAddress() {
    const { filter, agent = '', search = '', since, owner = '' } = listAddress();
    this.#filter = FILTERS.find(({ id }) => id === filter) ?? FILTERS[0];
    this.search.value = search.slice(0, this.search.maxLength);
    if (agent !== '') this.#know([agent]);
    this.agents.value = agent;
    this.times.selectedIndex = Math.max(0, TIMES.findIndex(({ id }) => id === since));
    this.owners.value = owner;
    // The address may be another person's.
    if (this.owners.selectedIndex < 0) this.owners.selectedIndex = 0;
  }

  #noteAddress() {
    noteListAddress({
      filter: this.#filter === FILTERS[0] ? '' : this.#filter.id,
      agent: this.agents.value,
      search: this.search.value.trim(),
      since: TIMES[this.times.selectedIndex].id,
      owner: this.owners.value,
    });
  }

  select(thread) {
    this.#selected = thread;
    this.#seen = sinceOf(this.awaited.find((each) => each.thread === thread)) ?? this.#seen;
    if (this.#shown?.thread !== thread) this.#shown = undefined;
    this.#show();
    this.list.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }

  /** Called when a thread has changed. Reads the list again, without waiting for the server to notice the change. */
  changed(view) {
    const { thread, status, open, pending } = view;
    this.#shown = rowOf(view);
    const known = this.#threads.find((each) => each.thread === thread);
    if (known === undefined ? this.#missed !== thread : known.status !== status) this.#follow();
    this.#missed = known === undefined ? thread : undefined;
    this.#amend(known, { status, open, waiting: pending });
  }

  /** Called when a thread was decided elsewhere on the page, before the server's list says so. */
  decided(thread) {
    this.#amend(this.#threads.find((each) => each.thread === thread), { status: 'running', waiting: [] });
  }

  #amend(known, change) {
    if (known !== undefined) Object.assign(known, change);
    this.#show();
    this.#tellCount();
  }

  filter(number) {
    this.#choose(FILTERS[number]);
  }

  /** Whether the server has no thread that the caller may see. */
  get isEmpty() {
    return !this.#isReading && this.#threads.length === 0 && !this.#isFiltered;
  }

  get #isFiltered() {
    return Object.keys(this.#query()).length > 0;
  }

  /** The thread before or after the selected one. */
  neighbor(step) {
    const all = this.#groups().flatMap(({ threads }) => threads);
    const at = all.findIndex((thread) => thread.thread === this.#selected);
    return all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + step))]?.thread;
  }

  /** The threads that wait for the user, the oldest first. */
  get awaited() {
    return this.#threads.filter((thread) => groupOf(thread) === 'yours');
  }

  /** Those where a call of this tool waits for an approval. */
  awaitedApprovals(tool) {
    return this.awaited.filter(({ waiting }) => waiting.some((one) => isApproval(one, tool)));
  }

  forksOf(origin) {
    return this.#threads.filter(({ forkedFrom }) => forkedFrom?.thread === origin);
  }

  /** The thread that waits for the user after the last one that was looked at, or else the first one that does. */
  get nextAwaited() {
    const all = this.awaited.filter(({ thread }) => thread !== this.#selected);
    return all.find((thread) => sinceOf(thread) > this.#seen) ?? all[0];
  }

  #nameOf(id) {
    return this.#threads.find(({ thread }) => thread === id)?.title ?? shortId(id);
  }

  /** The threads in their groups; groups without threads are left out. */
  #groups() {
    const isListed = this.#threads.some(({ thread }) => thread === this.#selected);
    const shown = isListed || this.#shown === undefined ? [] : [{ id: 'shown', label: 'Shown', icon: '▹', threads: [this.#shown] }];
    return [...shown, ...GROUPS.map((group) => ({ ...group, threads: this.#threads.filter((thread) => groupOf(thread) === group.id) }))].filter(
      ({ threads }) => threads.length > 0,
    );
  }

  /** Tells how many threads wait for the user, unless only some of them are listed. */
  #tellCount() {
    if (Object.keys(this.#query()).every((name) => name in this.#filter.query)) this.onWaiting(this.#awaitedCount());
  }

  /** How many threads wait for the user. Of those that are too many to be listed, any may. */
  #awaitedCount() {
    const { waiting, waitingCount } = this.#first;
    return waiting.filter((thread) => session.isAwaited(thread.waiting)).length + Math.max(0, waitingCount - waiting.length);
  }

  #query() {
    const [owner, ...group] = this.owners.value.split(' ');
    const query = {
      ...this.#filter.query,
      agent: this.agents.value,
      search: this.search.value.trim(),
      since: TIMES[this.times.selectedIndex].since(),
      owner: owner === 'owner' ? session.caller.subject : '',
      group: group.join(' '),
    };
    return Object.fromEntries(Object.entries(query).filter(([, value]) => value));
  }

  #path(more = {}) {
    return `/v1/threads?${new URLSearchParams({ limit: PAGE, ...this.#query(), ...more })}`;
  }

  #follow() {
    this.#endStream();
    if (document.visibilityState !== 'visible') return;
    this.#endStream = follow(this.#path(), undefined, {
      event: (name, list) => this.#listed(list),
      connected: (whether, problem) => {
        if (!whether) this.#fail(problem);
      },
      refused: (problem) => this.#fail(problem),
    });
  }

  #fail(problem) {
    // The token has expired or was revoked.
    if (problem?.status === 401) location.reload();
    if (problem !== undefined) this.#problem = problem;
    untilReached(problem, () => {
      if (this.#problem === problem) this.#problem = undefined;
      this.#show();
    });
    this.#show();
  }

  #listed(list) {
    const wasEmpty = this.isEmpty;
    this.#first = list;
    if (this.#older.length === 0) this.#next = list.next;
    this.#problem = undefined;
    this.#isReading = false;
    this.#arrange();
    this.#hasLoaded();
    this.#tellCount();
    if (wasEmpty !== this.isEmpty) this.onFirst();
  }

  #arrange() {
    const first = this.#filter.id === 'failed' ? [] : this.#first.waiting;
    const known = new Set(first.map((thread) => thread.thread));
    const others = [...this.#first.threads, ...this.#older].filter(({ thread }) => !known.has(thread) && known.add(thread));
    others.sort((one, other) => Date.parse(other.updated) - Date.parse(one.updated));
    this.#threads = roots([...first, ...others]);
    this.#know(this.#threads.map(({ agent }) => agent));
    this.#show();
  }

  #choose(filter) {
    this.#filter = filter;
    this.#showFilters();
    this.refresh();
  }

  async #loadMore() {
    const before = this.#threads.length;
    this.more.disabled = true;
    try {
      // A page may have only threads that are shown already, or threads of subagents.
      while (this.#next !== undefined && this.#threads.length <= before) {
        const path = this.#path({ after: this.#next });
        const { threads, next } = await get(path);
        if (path !== this.#path({ after: this.#next })) return; // Another filter was chosen meanwhile.
        this.#older.push(...threads);
        this.#next = next;
        this.#arrange();
      }
    } catch (problem) {
      this.#fail(problem);
    } finally {
      this.more.disabled = false;
    }
  }

  async #readAgents() {
    try {
      this.#know((await get('/v1/agents')).agents.map(({ name }) => name));
    } catch {
      // The agents of the threads that are listed can be chosen.
    }
  }

  /** Adds agents to those that can be chosen. */
  #know(names) {
    names.forEach((name) => this.#agents.add(name));
    if (this.agents.options.length === this.#agents.size + 1) return;
    const chosen = this.agents.value;
    replaceChildren(
      this.agents,
      h('option', { value: '' }, 'All agents'),
      [...this.#agents].sort().map((name) => h('option', { value: name }, name)),
    );
    this.agents.value = chosen;
  }

  #showFilters() {
    showList(
      this.tabs,
      FILTERS.map((filter) => ({
        key: filter.id,
        signature: String(filter === this.#filter),
        render: () => h('button', { 'aria-pressed': String(filter === this.#filter), onclick: () => this.#choose(filter) }, filter.label),
      })),
    );
  }

  #show() {
    showList(
      this.list,
      this.#groups().map(({ id, label, icon, threads }) => {
        const rows = threads.map((thread) => ({
          key: thread.thread,
          signature: JSON.stringify([thread, ago(thread.updated), thread.thread === this.#selected]),
          render: () => this.#row(thread),
        }));
        const count = id === 'yours' ? this.#awaitedCount() : threads.length;
        return {
          key: id,
          signature: JSON.stringify([count, ...rows.map(({ signature }) => signature)]),
          render: (old) => {
            const group = old ?? groupElement(id, label, icon);
            replaceChildren(group.querySelector('.count'), ['yours', 'others', 'running'].includes(id) ? String(count) : '');
            showList(group.querySelector('ul'), rows);
            group.querySelector('.cut').hidden = id !== 'yours' || count <= threads.length;
            return group;
          },
        };
      }),
    );
    this.list.setAttribute('aria-busy', String(this.#isReading));
    this.more.hidden = this.#next === undefined;
    this.more.textContent = this.#isFiltered ? 'Search older threads' : 'Show more';
    this.note.textContent = this.#note();
  }

  #note() {
    if (this.#problem) return wordsOf(this.#problem);
    if (this.#isReading) return 'Reading …';
    if (this.#threads.length > 0) return '';
    if (this.#filter.id === 'waiting') return 'Nothing waits for a person.';
    if (!this.#isFiltered) return 'No threads yet.';
    return this.#filter.id === 'failed' ? 'No failed thread matches.' : 'No thread matches.';
  }

  #row(thread) {
    return h(
      'li',
      {},
      h(
        'a',
        {
          href: threadLink(thread.thread),
          class: `${isWaiting(thread) ? 'waiting' : ''} ${thread.open ? '' : 'closed'}`,
          'aria-current': thread.thread === this.#selected ? 'page' : undefined,
        },
        h(
          'span',
          { class: 'title' },
          thread.forkedFrom === undefined ? null : [h('span', { class: 'chip', title: `Fork of ${this.#nameOf(thread.forkedFrom.thread)}` }, 'fork'), ' '],
          h('bdi', {}, thread.title ?? shortId(thread.thread)),
        ),
        h('time', { datetime: thread.updated, title: exactTime(thread.updated) }, ago(thread.updated)),
        thread.latest === undefined ? null : h('bdi', { class: 'latest' }, thread.latest),
        h(
          'span',
          { class: 'about' },
          h('bdi', {}, thread.agent),
          ' · ',
          isWaiting(thread)
            ? h('strong', {}, waitingWords(thread.waiting))
            : h('span', { class: `state ${thread.status}` }, thread.open ? statusWords(thread.status) : `closed, ${statusWords(thread.status)}`),
        ),
        thread.error === undefined ? null : h('bdi', { class: 'latest reason', title: thread.error.message }, thread.error.message),
      ),
    );
  }
}

function groupElement(id, label, icon) {
  const heading = `group-${id}`;
  return h(
    'section',
    { class: `group ${id}`, 'aria-labelledby': heading },
    h('h2', { id: heading }, h('span', { class: 'icon', 'aria-hidden': 'true' }, icon), label, ' ', h('span', { class: 'count muted' })),
    h('ul', {}),
    h('p', { class: 'cut muted', hidden: true }, 'Those that have waited longest are listed.'),
  );
}
