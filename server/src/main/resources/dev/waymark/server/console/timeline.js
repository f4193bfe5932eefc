// The versions of a thread, named by what happened: shows an earlier version, compares two, and continues from any of
// them in a new thread.
import { threadLink } from './address.js';
import { attempt, get, sender, showProblem, threadPath } from './api.js';
import { changesBlock, showChanges } from './changes.js';
import { h, problemLine, replaceChildren, showList } from './dom.js';
import { between, clock, exactTime, shortId } from './format.js';
import { RehearsalPanel } from './rehearsal-panel.js';
import { jsonBlock } from './json-text.js';
import { outline } from './line-diff.js';
import { session } from './session.js';
import { startThread } from './start-thread.js';

/** What happened in a step, by the types of its events; what has no words here is not named. */
const STEPS = new Map(
  Object.entries({
    'user-spoke': 'message',
    'model-replied': 'reply',
    'model-failed': 'model failed',
    'tool-finished': 'result',
    'tool-verified': 'result',
    'subagent-finished': 'result',
    'approval-decided': 'decision',
    'grant-revoked': 'decision',
    'outcome-settled': 'decision',
    'human-answered': 'answer',
    'tool-lost': 'lost call',
    summarised: 'summary',
    'summary-failed': 'summary failed',
    stopped: 'stopped',
    cleared: 'cleared',
    'limit-reached': 'limit reached',
    'cancel-requested': 'cancelled',
  }),
);

const stepWords = ({ types = [], phase }) => [...new Set(types.map((type) => STEPS.get(type)).filter(Boolean))].join(', ') || phase;

export class Timeline {
  #versions = [];
  #views = new Map();
  #selected;
  #wanted;
  #other;
  #post = sender();

  /** @param page `thread`, and `showPast(view)`, which shows the current state if `view` is missing */
  constructor(page) {
    this.page = page;
    this.slider = h('input', {
      type: 'range',
      min: '1',
      step: '1',
      'aria-label': 'Version',
      oninput: () => this.select(this.#versions[Number(this.slider.value) - 1]?.version),
    });
    this.afterFailure = h(
      'p',
      { class: 'muted', hidden: true },
      'The failure is part of this version. To go on from before it, choose an earlier version, or edit your last message in a new thread.',
    );
    this.label = h('p', { class: 'version', role: 'status' });
    this.steps = h('ol', { class: 'version-list', 'aria-label': 'Versions' });
    this.wide = h('button', { class: 'quiet widen', 'aria-pressed': 'false', onclick: () => this.#widen() }, 'Wide');
    this.compared = h('select', { id: 'compared', onchange: () => this.#compare(Number(this.compared.value)) });
    this.changes = changesBlock('Changes');
    this.eventList = h('ol', { class: 'events' });
    this.events = h('details', { ontoggle: () => this.#showEvents() }, h('summary', {}, 'Events that led to this version'), this.eventList);
    this.rehearsal = new RehearsalPanel(page.thread);
    this.problem = problemLine();
    this.body = h(
      'div',
      { class: 'timeline' },
      h(
        'div',
        { class: 'stepper' },
        h('button', { 'aria-label': 'Earlier version', onclick: () => this.step(-1) }, '‹'),
        this.slider,
        h('button', { 'aria-label': 'Later version', onclick: () => this.step(1) }, '›'),
      ),
      this.label,
      this.steps,
      h('div', { class: 'row' }, h('label', { for: 'compared' }, 'Changes since'), this.wide),
      this.compared,
      this.changes,
      this.events,
      this.#forkForm(),
      this.problem,
      this.rehearsal.element,
    );
    this.none = h('p', { class: 'muted' }, 'There are no versions yet. A version is recorded after each step.');
    this.element = h('div', {}, this.none, this.body);
    this.body.hidden = true;
  }

  /** Shows this version as soon as the versions are known, instead of the newest one. */
  begin(version) {
    this.#wanted = version;
  }

  goTo(version) {
    this.begin(version);
    return this.load();
  }

  /** Reads the versions. Versions are only added, unless the thread is reset. */
  async load() {
    try {
      const { versions } = await get(`${threadPath(this.page.thread)}/versions`);
      const isReset = versions.some(({ runId, eventId }, i) => {
        const known = this.#versions[i];
        return known && (known.runId !== runId || known.eventId !== eventId);
      });
      if (isReset) this.#views.clear();
      const wasNewest = this.#selected === undefined || this.#selected === this.#versions.at(-1)?.version;
      this.#versions = versions;
      this.none.hidden = versions.length > 0;
      this.body.hidden = versions.length === 0;
      this.slider.max = String(versions.length);
      const newest = versions.at(-1)?.version;
      const wanted = this.#wanted;
      this.#wanted = undefined;
      const isThere = versions.some(({ version }) => version === wanted);
      if (wanted !== undefined && !isThere) this.page.lacksVersion(wanted);
      if (isThere) await this.select(wanted);
      else if (newest !== undefined && (isReset || (wasNewest && newest !== this.#selected))) await this.select(newest, false);
      else this.#showLabel();
      this.#showChoices();
    } catch (problem) {
      showProblem(this.problem, problem);
      if (this.#wanted !== undefined) this.page.lacksVersion(this.#wanted);
    }
  }

  step(by) {
    const at = this.#versions.findIndex(({ version }) => version === this.#selected);
    const next = this.#versions[at + by];
    if (next) this.select(next.version);
  }

  newest() {
    return this.select(this.#versions.at(-1)?.version);
  }

  /** Shows a version. The newest version counts as the current state until the thread continues. */
  async select(version, byUser = true) {
    if (version === undefined) return;
    this.#selected = version;
    const at = this.#versions.findIndex((each) => each.version === version);
    this.slider.value = String(at + 1);
    this.slider.setAttribute('aria-valuetext', `Version ${version}`);
    this.#other = this.#versions[at - 1]?.version;
    this.#showLabel();
    this.#showChoices();
    this.changes.setAttribute('aria-busy', 'true');
    this.#showEvents();
    this.page.reads(true);
    await attempt(this.problem, async () => {
      const view = await this.#view(version).finally(() => this.page.reads(false));
      if (this.#selected !== version) return;
      if (byUser) this.page.showPast(at === this.#versions.length - 1 ? undefined : view);
      await this.#compare(this.#other);
      this.afterFailure.hidden = view.status !== 'failed';
    });
  }

  /** Shows the raw events of the selected version, each with the time since the one before it. */
  async #showEvents() {
    const version = this.#selected;
    if (!this.events.open || version === undefined) return;
    try {
      const { moments } = await get(`${threadPath(this.page.thread)}/moments?at=${version}`);
      if (this.#selected !== version) return;
      replaceChildren(
        this.eventList,
        moments.map(({ type, at, eventId, text }, i) =>
          h(
            'li',
            {},
            h(
              'details',
              {},
              h('summary', {}, h('code', {}, type), h('span', { class: 'muted', title: at }, ` event ${eventId}, ${i === 0 ? clock(at) : `+${between(moments[i - 1].at, at)}`}`)),
              jsonBlock(text, `Event ${eventId}`),
            ),
          ),
        ),
      );
    } catch (problem) {
      showProblem(this.problem, problem);
    }
  }

  async #view(version) {
    if (!this.#views.has(version)) {
      this.#views.set(version, await get(`${threadPath(this.page.thread)}/conversation?at=${version}`));
    }
    return this.#views.get(version);
  }

  #showLabel() {
    const row = this.#versions.find(({ version }) => version === this.#selected);
    if (!row) return;
    replaceChildren(
      this.label,
      h('strong', {}, `Version ${row.version}`),
      ` of ${this.#versions.at(-1).version} · `,
      h('span', { title: exactTime(row.at) }, clock(row.at)),
      ` · ${stepWords(row)}`,
    );
    this.#showSteps();
    this.rehearsal.show(row.version);
  }

  /** All versions, with what happened and the forks that began there. */
  #showSteps() {
    const forks = this.page.list.forksOf(this.page.thread);
    showList(
      this.steps,
      this.#versions.map((row) => {
        const begun = forks.filter(({ forkedFrom }) => forkedFrom.version === row.version);
        const isShown = row.version === this.#selected;
        return {
          key: String(row.version),
          signature: JSON.stringify([row, begun, isShown]),
          render: () =>
            h(
              'li',
              {},
              h('button', { class: 'quiet', 'aria-current': isShown ? 'step' : undefined, onclick: () => this.select(row.version) }, `${row.version} · ${stepWords(row)}`),
              begun.map(({ thread, title }) => h('a', { href: threadLink(thread) }, 'fork: ', h('bdi', {}, title ?? shortId(thread)))),
            ),
        };
      }),
    );
    const shown = this.steps.querySelector('[aria-current]');
    // Scrolls the list alone, and not the panel around it.
    if (shown !== null) this.steps.scrollTop = shown.offsetTop - this.steps.offsetTop - this.steps.clientHeight / 2;
  }

  #widen() {
    const isWide = this.wide.getAttribute('aria-pressed') !== 'true';
    this.wide.setAttribute('aria-pressed', String(isWide));
    this.page.side.classList.toggle('wide-side', isWide);
  }

  #showChoices() {
    const others = this.#versions.filter(({ version }) => version !== this.#selected);
    replaceChildren(
      this.compared,
      this.#other === undefined ? h('option', { value: '0' }, 'nothing to compare with') : null,
      others.map(({ version, at, phase, types }) => h('option', { value: String(version) }, `version ${version} · ${clock(at)} · ${stepWords({ types, phase })}`)),
    );
    this.compared.value = String(this.#other ?? 0);
  }

  async #compare(other) {
    this.#other = other === 0 ? undefined : other;
    const selected = this.#selected;
    this.changes.setAttribute('aria-busy', 'true');
    const lines = outline(await this.#view(selected));
    const before = this.#other === undefined ? [] : outline(await this.#view(this.#other));
    if (this.#selected !== selected) return;
    this.changes.setAttribute('aria-busy', 'false');
    showChanges(this.changes, before, lines);
  }

  #forkForm() {
    if (!session.may('talk')) return null;
    const message = h('textarea', { id: 'fork-message', rows: '2' });
    const button = h('button', { class: 'primary', type: 'submit' }, 'Fork');
    return h(
      'form',
      {
        class: 'fork',
        onsubmit: (event) => {
          event.preventDefault();
          const body = { at: String(this.#selected) };
          if (message.value.trim() !== '') body.message = message.value;
          startThread(button, this.problem, () => this.#post(`${threadPath(this.page.thread)}/fork`, JSON.stringify(body)));
        },
      },
      h('h3', {}, 'Continue from here in a new thread'),
      h('p', { class: 'muted' }, 'This thread stays as it is. What has taken effect does not happen again.'),
      this.afterFailure,
      h('label', { for: 'fork-message' }, 'Message (optional)'),
      message,
      button,
    );
  }
}
