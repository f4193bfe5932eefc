// One thread: its live conversation, and the commands for it.
import { get, newKey, post, threadPath } from './api.js';
import { showConversation } from './conversation.js';
import { decisionItems } from './decisions.js';
import { Details } from './details.js';
import { announce, h, replaceChildren, showList } from './dom.js';
import { clock, dollars, shortId, statusWords } from './format.js';
import { LiveReply } from './live-reply.js';
import { session } from './session.js';
import { follow } from './stream.js';
import { Timeline } from './timeline.js';

/** Several events often arrive at once. */
const SETTLE_MILLIS = 40;
const ENDS_OF_REPLIES = new Set(['model-replied', 'model-failed', 'summarised', 'summary-failed', 'stopped', 'cancel-requested', 'run-continued', 'restarted']);

export class ThreadPage {
  #live = new LiveReply();
  #view;
  #endStream = () => {};
  #timer;
  #loading = false;
  #isStale = false;
  #gone = false;
  #past;
  #panel = '';
  #notes = new Map();
  #arrived = new Set();

  constructor(thread, { panel, onChange }) {
    this.thread = thread;
    this.onChange = onChange;
    this.header = h('header', { class: 'thread-header' });
    this.banner = h('div', { class: 'banner', role: 'status', hidden: true });
    this.messages = h('div', { class: 'messages', role: 'log', 'aria-live': 'off', 'aria-label': 'Conversation', tabindex: '0' });
    this.activity = h('p', { class: 'activity', hidden: true });
    this.foot = h('div', { class: 'foot' });
    this.decisions = h('div', { class: 'decisions' });
    this.scroller = h('div', { class: 'scroller' }, h('div', { class: 'column' }, this.messages, this.activity, this.decisions));
    this.details = new Details(this);
    this.timeline = new Timeline(this);
    this.side = h('aside', { class: 'side', hidden: true, 'aria-label': 'About this thread' });
    this.element = h(
      'section',
      { class: 'thread', 'aria-label': 'Thread' },
      h('div', { class: 'talk' }, this.header, this.banner, this.scroller, this.foot),
      this.side,
    );
    this.composer = this.#composer();
    if (panel !== '') this.showPanel(panel);
    this.#open();
  }

  close() {
    this.#gone = true;
    clearTimeout(this.#timer);
    this.#endStream();
  }

  focusComposer() {
    this.composer.field.focus();
  }

  focusDecision() {
    const first = this.decisions.querySelector('textarea, button');
    first?.focus();
    first?.scrollIntoView({ block: 'center' });
  }

  /** Shows or hides the panel beside the conversation: `details`, `timeline`, or none. */
  showPanel(name) {
    this.#panel = this.#panel === name ? '' : name;
    if (this.#panel !== 'timeline') this.showPast(undefined);
    this.side.hidden = this.#panel === '';
    if (this.#panel !== '') {
      const tab = (id, label) => h('button', { 'aria-pressed': String(id === this.#panel), onclick: () => id !== this.#panel && this.showPanel(id) }, label);
      replaceChildren(
        this.side,
        h(
          'div',
          { class: 'side-head' },
          h('div', { class: 'tabs', role: 'group', 'aria-label': 'Panel' }, tab('details', 'Details'), tab('timeline', 'Timeline')),
          h('button', { class: 'quiet', 'aria-label': 'Close panel', onclick: () => this.showPanel('') }, '✕'),
        ),
        this.#panel === 'details' ? this.details.element : this.timeline.element,
      );
      if (this.#panel === 'timeline') this.timeline.load();
    }
    this.#show();
  }

  stepVersion(by) {
    if (this.#panel === 'timeline') this.timeline.step(by);
  }

  /** The panel that is open: `details`, `timeline`, or none. */
  get panel() {
    return this.#panel;
  }

  /** Shows an earlier state instead of the current one. */
  showPast(view) {
    this.#past = view;
    this.#tell('past', '');
    this.#show();
  }

  async #open() {
    await this.#load();
    if (this.#gone || this.#view === undefined) return;
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.#endStream = follow(this.thread, this.#view.position, {
      event: (name, document) => this.#happened(name, document),
      connected: (whether) => this.#tell('connection', whether ? '' : 'Connection lost. Reconnecting …'),
      refused: (problem) => this.#tell('connection', problem.words),
    });
  }

  #happened(name, document) {
    if (name === 'text-delta') {
      this.#live.add(document);
      this.#show();
      return;
    }
    if (name === 'no-worker') {
      this.#tell('worker', `${document.message}. It continues as soon as a worker takes it.`);
      return;
    }
    if (name === 'worker-back') {
      this.#tell('worker', '');
      return;
    }
    if (name !== 'status') this.#tell('worker', '');
    if (document.id !== undefined) {
      this.#arrived.add(document.id);
      this.composer.takeBack();
    }
    if (ENDS_OF_REPLIES.has(name)) this.#live.end();
    this.refresh();
  }

  /** Schedules another read of the thread. */
  refresh() {
    this.#isStale = true;
    if (this.#loading || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#load();
    }, SETTLE_MILLIS);
  }

  async #load() {
    this.#loading = true;
    this.#isStale = false;
    const ended = this.#live.ended;
    try {
      const view = await get(`${threadPath(this.thread)}/conversation`);
      if (this.#gone) return;
      this.#view = view;
      this.#live.shown(ended);
      this.#tell('load', '');
      this.#show();
      if (this.#panel === 'timeline') this.timeline.load();
      this.onChange(view);
    } catch (problem) {
      this.#tell('load', problem.words ?? String(problem));
      if (this.#view === undefined) replaceChildren(this.messages, h('p', { class: 'empty' }, 'There is nothing to show.'));
    } finally {
      this.#loading = false;
    }
    if (this.#isStale && !this.#gone) this.refresh();
  }

  /** Shows a note above the conversation, until an empty note replaces it. */
  #tell(about, words) {
    if (words === '') this.#notes.delete(about);
    else this.#notes.set(about, words);
    const all = [...this.#notes.values()].join(' ');
    this.banner.hidden = all === '';
    if (this.banner.textContent !== all) replaceChildren(this.banner, all);
  }

  #show() {
    if (this.#view === undefined) return;
    const view = this.#past ?? this.#view;
    const atEnd = this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight < 80;
    this.element.classList.toggle('past', this.#past !== undefined);
    showConversation(this.messages, view, this.#past ? undefined : this.#live);
    showList(this.decisions, this.#past ? [] : decisionItems(view, this));
    this.decisions.hidden = this.decisions.childNodes.length === 0;
    this.#showActivity();
    this.#showHeader();
    this.#showFoot();
    if (this.#panel === 'details') this.details.show(view);
    if (atEnd) this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  #showActivity() {
    const view = this.#view;
    const running = view.calls.filter((call) => ['dispatched', 'claimed', 'delegated', 'verifying'].includes(call.phase)).map((call) => call.tool);
    const words = this.#past || !view.open || view.status !== 'running' || this.#live.text !== ''
      ? ''
      : running.length > 0
        ? `Running ${running.join(', ')} …`
        : 'Thinking …';
    this.activity.hidden = words === '';
    if (this.activity.textContent !== words) replaceChildren(this.activity, words);
    announce(view.status === 'running' ? '' : `${view.agent}: ${statusWords(view.status)}`);
  }

  #showHeader() {
    const view = this.#view;
    const signature = JSON.stringify([view.status, view.open, view.costUsd, view.agent, this.#panel]);
    if (this.header.dataset.signature === signature) return;
    this.header.dataset.signature = signature;
    const isRunning = view.open && (view.status === 'running' || view.status === 'interrupted');
    replaceChildren(
      this.header,
      h('a', { class: 'back', href: '#/', 'aria-label': 'Back to the list' }, '‹'),
      h(
        'div',
        { class: 'who' },
        h('h1', {}, h('bdi', {}, view.agent)),
        h('p', { class: 'muted' }, h('code', { title: view.thread }, shortId(view.thread)), view.costUsd === null ? null : ` · ${dollars(view.costUsd)}`),
      ),
      h('span', { class: `chip ${view.open ? view.status : 'quiet'}` }, view.open ? statusWords(view.status) : 'closed'),
      h(
        'div',
        { class: 'actions' },
        isRunning && session.may('talk') ? h('button', { onclick: () => this.command('stop') }, 'Stop') : null,
        h('button', { 'aria-pressed': String(this.#panel === 'timeline'), onclick: () => this.showPanel('timeline') }, 'Timeline'),
        h('button', { 'aria-pressed': String(this.#panel === 'details'), onclick: () => this.showPanel('details') }, 'Details'),
      ),
    );
  }

  #showFoot() {
    const view = this.#view;
    const isEnded = ['failed', 'stopped'].includes(view.status);
    const kind = this.#past ? `past ${this.#past.version}` : !view.open ? 'closed' : !session.may('talk') ? 'look' : isEnded ? 'ended' : 'open';
    if (this.foot.dataset.kind === kind) return;
    this.foot.dataset.kind = kind;
    const mayTalk = session.may('talk');
    const retry = h('button', { onclick: () => this.command('say', { retry: true }) }, 'Try again');
    const resume = h('button', { class: 'primary', onclick: () => this.#resume() }, 'Continue in a new thread');
    const content = {
      open: () => this.composer.element,
      ended: () => [h('div', { class: 'row retry' }, h('p', { class: 'muted' }, `The last turn ended: ${statusWords(view.status)}.`), retry), this.composer.element],
      look: () => h('p', { class: 'muted' }, 'Your role allows you to read.'),
      closed: () => h('div', { class: 'row retry' }, h('p', { class: 'muted' }, 'This thread is closed.'), mayTalk && view.parent === undefined ? resume : null),
    }[kind];
    replaceChildren(
      this.foot,
      content?.() ??
        h(
          'div',
          { class: 'row retry' },
          h('p', {}, h('strong', {}, `Version ${this.#past.version}`), `, as it was at ${clock(this.#past.at)}.`),
          h('button', { onclick: () => this.timeline.newest() }, 'Back to now'),
        ),
    );
  }

  async #resume() {
    try {
      const { thread } = await post(`${threadPath(this.thread)}/resume`, {});
      location.hash = `#/thread/${encodeURIComponent(thread)}`;
    } catch (problem) {
      this.#tell('command', problem.words ?? String(problem));
    }
  }

  #composer() {
    let sent; // The message and its key, as long as it is unknown whether the message arrived.
    const clear = () => {
      if (field.value === sent.message) field.value = '';
      sent = undefined;
      grow(field);
      problem.textContent = '';
    };
    /** Clears a message that arrived although its request had failed: no worker took it in time, but one did later. */
    const takeBack = () => {
      if (sent?.id !== undefined && this.#arrived.has(sent.id)) clear();
    };
    const field = h('textarea', {
      rows: '1',
      placeholder: 'Write a message',
      'aria-label': 'Message',
      oninput: () => grow(field),
      onkeydown: (event) => {
        if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
          event.preventDefault();
          form.requestSubmit();
        }
      },
    });
    const button = h('button', { class: 'primary', type: 'submit' }, 'Send');
    const problem = h('p', { class: 'problem', role: 'alert' });
    const form = h(
      'form',
      {
        class: 'composer',
        onsubmit: async (event) => {
          event.preventDefault();
          const message = field.value;
          if (message.trim() === '' || button.disabled) return;
          button.disabled = true;
          try {
            if (sent?.message !== message) sent = { message, key: newKey() };
            await post(`${threadPath(this.thread)}/say`, { message }, sent.key);
            clear();
            this.scroller.scrollTop = this.scroller.scrollHeight;
          } catch (failure) {
            problem.textContent = failure.words ?? String(failure);
            if (failure.messageId !== undefined) sent = { ...sent, id: failure.messageId };
            takeBack();
          }
          button.disabled = false;
          field.focus();
        },
      },
      field,
      button,
      problem,
    );
    return { element: form, field, takeBack };
  }

  /** Sends a command to the thread. */
  async command(name, body = {}) {
    try {
      await post(`${threadPath(this.thread)}/${name}`, body);
      this.#tell('command', '');
      this.refresh();
    } catch (problem) {
      // A command that no worker took in time may still arrive: the next event replaces the note.
      this.#tell(problem.code === 'NoWorker' ? 'worker' : 'command', problem.words ?? String(problem));
    }
  }
}

/** Makes a text field as high as its text. */
export function grow(field) {
  field.rows = Math.min(12, Math.max(1, field.value.split('\n').length, Math.ceil(field.value.length / 70)));
}
