// Decides several requests together that the same rule leaves to a person: the same tool, all arguments on the screen,
// and for each a decision of its own, with its own digest.
import { goToThread, threadLink } from './address.js';
import { get, sender, threadPath, wordsOf } from './api.js';
import { announce, backLink, h, problemLine, replaceChildren } from './dom.js';
import { ago, exactTime } from './format.js';
import { members, unquoted } from './json-text.js';
import { titleOf } from './origins.js';
import { isApproval } from './thread-list.js';

const MOST = 20;
/** How long the buttons wait before they can be pressed: a second click was meant for what was there before. */
const NEW_MILLIS = 1_000;

/** Requests that have to be looked at one by one. */
const isSpecial = ({ signers, argsCut, mayHaveRun, fromFile, toolChanged }) => Boolean(signers || argsCut || mayHaveRun || fromFile || toolChanged);

const ruleOf = ({ verdict = {} }) => JSON.stringify([verdict.rule, verdict.reason]);

export class AlikePage {
  #rows = [];

  /** @param list the list of threads, with those that wait for the user */
  constructor(tool, list) {
    this.tool = tool;
    this.list = list;
    this.heading = h('h1', { tabindex: '-1' }, `Requests of ${tool}`);
    this.about = h('p', { class: 'muted', role: 'status' }, 'Reading the requests …');
    this.table = h('div', { class: 'alike' });
    this.controls = h('div', { class: 'controls together' });
    this.problem = problemLine();
    this.element = h('section', { class: 'scroller', 'aria-label': 'Requests that are alike' }, h('div', { class: 'wide' }, backLink(), this.heading, this.about, this.table, this.problem, this.controls));
    this.#load();
  }

  shown() {
    this.heading.focus();
  }

  close() {}

  /** Words that somebody has begun to write. */
  get draft() {
    return this.reason?.value ? this.reason : undefined;
  }

  get title() {
    return `Requests of ${this.tool}`;
  }

  async #load() {
    await this.list.loaded;
    const waiting = this.list.awaitedApprovals(this.tool);
    const threads = waiting.slice(0, MOST);
    const views = await Promise.all(threads.map(({ thread }) => get(`${threadPath(thread)}/conversation`).catch(() => undefined)));
    const all = views
      .filter((view) => view !== undefined)
      .flatMap((view) => view.pending.filter((item) => isApproval(item, this.tool)).map((item) => ({ item, view })));
    const [first] = all.filter(({ item }) => !isSpecial(item));
    const alike = first === undefined ? [] : all.filter(({ item }) => !isSpecial(item) && ruleOf(item) === ruleOf(first.item)).slice(0, MOST);
    this.#show(alike, all.length - alike.length + waiting.length - threads.length);
  }

  #show(alike, others) {
    const { rule, reason } = alike[0]?.item.verdict ?? {};
    replaceChildren(
      this.about,
      alike.length === 0 ? 'Nothing waits that can be decided together.' : `${alike.length} ${alike.length === 1 ? 'request' : 'requests'}`,
      rule === undefined ? null : `, asked by rule ${rule}`,
      reason ? [': ', h('bdi', {}, reason)] : null,
      others > 0 ? `. ${others} more ${others === 1 ? 'is' : 'are'} not here: too many, or to be looked at in the thread.` : null,
    );
    const chooseAll = () => {
      this.#rows.forEach((row) => (row.box.checked = this.all.checked));
      this.#count();
    };
    this.all = h('input', { type: 'checkbox', 'aria-label': 'Choose all', onchange: chooseAll });
    const names = [...new Set(alike.flatMap(({ item }) => [...members(item.argsText).keys()]))];
    this.#rows = alike.map(({ item, view }) => new Row(item, view, names, () => this.#count()));
    replaceChildren(
      this.table,
      h(
        'div',
        { class: 'table', tabindex: '0', role: 'region', 'aria-label': 'Requests and their arguments' },
        h(
          'table',
          {},
          h('thead', {}, h('tr', {}, h('th', {}, this.all), h('th', {}, 'Thread'), names.map((name) => h('th', { class: 'mono' }, h('bdi', {}, name))), h('th', {}, 'Waits'))),
          h('tbody', {}, this.#rows.map(({ element }) => element)),
        ),
      ),
    );
    if (alike.length === 0) {
      this.#showEnd();
      return;
    }
    this.approve = h('button', { class: 'primary', disabled: true, onclick: () => this.#send('approve', 'Approved') });
    this.deny = h('button', { class: 'danger', disabled: true, onclick: () => this.#send('deny', 'Denied') });
    this.reason = h('input', { type: 'text' });
    replaceChildren(this.controls, this.approve, this.deny, h('label', {}, 'Reason, which the models of denied requests are told (optional)', this.reason));
    setTimeout(() => this.#count(), NEW_MILLIS);
    this.#label();
  }

  #chosen() {
    return this.#rows.filter(({ isChosen }) => isChosen);
  }

  #label() {
    const count = this.#chosen().length;
    replaceChildren(this.approve, `Approve ${count}`);
    replaceChildren(this.deny, `Deny ${count}`);
    return count;
  }

  #count() {
    const count = this.#label();
    this.approve.disabled = count === 0;
    this.deny.disabled = count === 0;
  }

  /** Sends the decisions one after the other. One that is refused, because its request has changed, leaves the others alone. */
  async #send(name, decided) {
    const rows = this.#chosen();
    const reason = name === 'deny' && this.reason.value.trim() !== '' ? { reason: this.reason.value } : {};
    replaceChildren(this.controls);
    this.all.disabled = true;
    this.#rows.forEach((row) => row.lock());
    this.heading.focus();
    let done = 0;
    for (const row of rows) {
      replaceChildren(this.about, `${decided}: ${done} of ${rows.length} …`);
      if (await row.send(name, reason, decided)) done++;
      this.list.decided(row.thread);
    }
    const left = rows.length - done;
    const words = `${decided}: ${done} of ${rows.length}.${left === 0 ? '' : ` ${left} left out: see below.`}`;
    replaceChildren(this.about, words);
    announce(words);
    this.reason = undefined;
    this.#showEnd();
  }

  #showEnd() {
    const next = () => {
      const thread = this.list.nextAwaited;
      if (thread === undefined) location.hash = '#/';
      else goToThread(thread.thread);
    };
    replaceChildren(this.controls, h('button', { class: 'primary', onclick: next }, 'Go on'));
  }
}

class Row {
  #post = sender();

  constructor(item, view, names, onChange) {
    this.item = item;
    this.thread = view.thread;
    const title = titleOf(view.messages) ?? view.agent;
    this.box = h('input', { type: 'checkbox', 'aria-label': `Decide: ${title}`, onchange: onChange });
    this.state = h('td', {}, h('time', { datetime: item.since, title: exactTime(item.since) }, ago(item.since)));
    const known = members(item.argsText);
    this.element = h(
      'tr',
      {},
      h('td', {}, this.box),
      h(
        'td',
        { class: 'of' },
        h('a', { href: threadLink(view.thread) }, h('bdi', {}, title)),
        item.untrusted ? h('p', { class: 'from-file', dir: 'auto' }, item.untrusted.sentence) : null,
      ),
      names.map((name) => h('td', { dir: 'auto', 'data-name': name }, shown(known.get(name)?.value))),
      this.state,
    );
  }

  get isChosen() {
    return this.box.checked && !this.box.disabled;
  }

  lock() {
    this.box.disabled = true;
  }

  /** Returns whether the decision counts. */
  async send(name, reason, decided) {
    try {
      await this.#post(`${threadPath(this.thread)}/${name}`, JSON.stringify({ callId: this.item.callId, argsDigest: this.item.argsDigest, ...reason }));
      replaceChildren(this.state, decided);
      return true;
    } catch (failure) {
      replaceChildren(this.state, h('span', { class: 'problem' }, wordsOf(failure)));
      return false;
    }
  }
}

/** An argument. One that a call does not have is not an empty text. */
const shown = (value) => (value === undefined ? '—' : unquoted(value));
