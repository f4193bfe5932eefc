// One thread: its live conversation, and the commands for it.
import { addToHistory, goToThread, noteAddress, threadLink } from './address.js';
import { get, newKey, post, sender, showProblem, threadPath, untilReached, wordsOf } from './api.js';
import { Conversation } from './conversation.js';
import { cardOf, decisionItems, guardMoved } from './decisions.js';
import { Details } from './details.js';
import { Finder } from './finder.js';
import { announce, backLink, h, problemLine, replaceChildren, sendAtEnter, showList } from './dom.js';
import { clock, costWords, exactTime, shortId, statusWords, threadWords } from './format.js';
import { LiveReply } from './live-reply.js';
import { originOf, titleOf } from './origins.js';
import { session } from './session.js';
import { follow } from './stream.js';
import { Timeline } from './timeline.js';
import { hasWorkspace, WorkspacePanel } from './workspace-panel.js';

/** Several events often arrive at once. */
const SETTLE_MILLIS = 40;
/** Words of a reply arrive faster than a screen shows them. */
const FRAME_MILLIS = 16;
/** How long it is said which thread is opened next, before it is. */
const NEXT_MILLIS = 3_000;
const PANELS = { details: 'Details', timeline: 'Timeline', workspace: 'Workspace' };
const ENDS_OF_REPLIES = new Set(['model-replied', 'model-failed', 'summarised', 'summary-failed', 'stopped', 'cancel-requested', 'run-continued', 'restarted']);

/** The fields of a form that somebody has opened. */
const FIELDS = 'form:not(.answer) :is(input, select, textarea)';

export class ThreadPage {
  #live = new LiveReply();
  #view;
  #endStream = () => {};
  #timer;
  #frame;
  #pause = FRAME_MILLIS;
  /** Where this thread began, if it is a fork: `thread`, `version`, and the `title` of that thread as soon as it is read. */
  #fork;
  #post = sender();
  #call;
  #lacksCall = false;
  #loading = false;
  #isStale = false;
  #gone = false;
  #isShown = false;
  #past;
  /** The version that the address names, until it is shown: nothing else is shown before. */
  #wanted;
  #isGoing = false;
  /** The timer that opens the next thread. */
  #opening;
  #panel = '';
  #messageInstead = false;
  #notes = new Map();
  #arrived = new Set();
  #question;
  /** A button that leads to what is in view is in the way. */
  #inView = new IntersectionObserver((seen) => {
    this.toQuestion.hidden = seen.at(-1).intersectionRatio >= 0.99;
  }, { threshold: 0.99 });

  /** The start page is gone: the keyboard goes on here. */
  shown() {
    this.messages.focus({ preventScroll: true });
  }

  /** A field of something that somebody has begun to write, if any. */
  get draft() {
    const open = this.element.querySelector(`.decision:not(.decided) ${FIELDS}, .edited textarea`);
    return open ?? [...this.element.querySelectorAll('.answer textarea, .composer textarea')].find(({ value }) => value !== '');
  }

  /**
   * @param place `panel`, and what the page begins with: a `version` of the timeline, or a `call`; the `list` of threads;
   *     and what happens: `onChange(view)`, and `onDecided()` after the last decision that waited for the user
   */
  constructor(thread, { panel = '', version, call, list, onChange, onDecided }) {
    this.thread = thread;
    this.#call = call;
    this.#wanted = version;
    this.list = list;
    this.onChange = onChange;
    this.onDecided = onDecided;
    this.header = h('header', { class: 'thread-header' });
    this.banner = h('div', { class: 'banner', role: 'status', hidden: true });
    this.messages = h('div', { class: 'messages', role: 'log', 'aria-live': 'off', 'aria-label': 'Conversation', tabindex: '0' });
    this.conversation = new Conversation(this.messages, session.may('talk') ? (place, text) => this.#again(place, text) : undefined);
    this.activity = h('p', { class: 'activity', hidden: true });
    this.foot = h('div', { class: 'foot' });
    this.toQuestion = h('button', { class: 'primary', onclick: () => this.focusDecision('.question') }, 'Go to the question');
    this.decisions = h('div', { class: 'decisions' });
    this.scroller = h(
      'div',
      { class: 'scroller', onscroll: () => this.#showJump() },
      h('div', { class: 'column' }, this.messages, this.activity, this.decisions),
    );
    // Once is enough: it moves when the agent goes on, and the pointer then leaves it without having moved.
    const keep = () => clearTimeout(this.#opening);
    this.next = h('div', { class: 'next row', role: 'status', onpointerenter: keep, onfocusin: keep });
    this.toNewest = h('button', { class: 'to-newest', hidden: true, onclick: () => this.#jump() }, 'Jump to newest');
    this.finder = new Finder(this.conversation);
    this.details = new Details(this);
    this.timeline = new Timeline(this);
    this.workspace = new WorkspacePanel(this);
    this.side = h('aside', { class: 'side', hidden: true, 'aria-label': 'About this thread' });
    this.element = h(
      'section',
      { class: 'thread', 'aria-label': 'Thread', 'data-thread': thread },
      h('div', { class: 'talk' }, this.header, this.banner, this.finder.element, this.scroller, h('div', { class: 'jump' }, this.toNewest), this.next, this.foot),
      this.side,
    );
    this.composer = this.#composer();
    replaceChildren(this.header, backLink(), h('h1', {}, h('code', {}, shortId(thread))));
    replaceChildren(this.messages, h('p', { class: 'muted', role: 'status' }, 'Reading the thread …'));
    if (version !== undefined) this.timeline.begin(Number(version));
    const first = panel === '' && version !== undefined ? 'timeline' : panel;
    this.#quietly(() => first in PANELS && this.showPanel(first));
    if (version !== undefined && first !== 'timeline') this.timeline.load();
    this.#open();
  }

  close() {
    this.#gone = true;
    clearTimeout(this.#timer);
    this.stay();
    this.#endStream();
    this.#inView.disconnect();
  }

  /** While a question is open, only its own field is shown, unless somebody asks for this one. */
  focusComposer() {
    this.#messageInstead = true;
    this.show();
    this.composer.field.focus();
  }

  /** Goes to a form that is open, or else to the first card. */
  focusDecision(which = '') {
    this.#messageInstead = false;
    this.show();
    const card = `.decision:not(.decided)${which}`;
    const first = this.decisions.querySelector(`${card} ${FIELDS}`) ?? this.decisions.querySelector(`${card} :is(textarea, button)`);
    first?.focus();
    first?.scrollIntoView({ block: 'center' });
  }

  /**
   * Goes to a form that is open, to the first request that waits for the user, or to the one after that with the focus.
   * Returns whether there is one.
   */
  focusNextDecision() {
    const field = this.decisions.querySelector(`.decision:not(.decided) ${FIELDS}`);
    if (field !== null && !cardOf(field).element.contains(document.activeElement)) {
      field.focus();
      return true;
    }
    const all = this.#awaited();
    const next = all[all.indexOf(document.activeElement?.closest('.decision')) + 1];
    if (next === undefined) return false;
    this.#showRequest(next);
    return true;
  }

  /** The cards of the requests that wait for the user. */
  #awaited() {
    return [...this.decisions.querySelectorAll('.decision')].filter((element) => cardOf(element).isAwaited);
  }

  /** The other threads where a call of this tool waits for an approval. */
  alike(tool) {
    return this.list.awaitedApprovals(tool).filter(({ thread }) => thread !== this.thread);
  }

  /** Shows a request from its heading on. The focus is not on a control, so that a key pressed too early does nothing. */
  #showRequest(element) {
    element.focus({ preventScroll: true });
    element.scrollIntoView({ block: 'start' });
  }

  /** Decides the request that has the focus. Without one, the key leads to the first request, and decides nothing. */
  decideByKey(name) {
    const card = cardOf(document.activeElement);
    if (card === undefined) this.focusNextDecision();
    else card.byKey(name);
  }

  /** Whether the user has begun something else than to decide. */
  get #isBusy() {
    return this.#past !== undefined || this.draft !== undefined || document.activeElement.matches('input, textarea, select');
  }

  /** Called at a decision, but not at an answer, to which the agent replies here. */
  decided() {
    if (this.#awaited().length === 0 && !this.#isBusy) this.onDecided();
  }

  /** Called a moment after a decision: goes on with what waits here, unless the user has begun something else. */
  afterDecision() {
    if (!this.#gone && !this.#isBusy && document.activeElement.closest('.decision') === null) this.focusNextDecision();
  }

  /**
   * Says which thread is opened next, and opens it a moment later, unless the user stays, reads what is said, or has
   * begun something else, or something waits here.
   *
   * @param next undefined if no other thread waits for the user
   */
  tellNext(next, open) {
    this.stay();
    if (next === undefined) return;
    replaceChildren(
      this.next,
      h('span', {}, 'Opens next: ', h('a', { href: threadLink(next.thread) }, h('bdi', {}, next.title ?? shortId(next.thread)))),
      h('button', { onclick: () => this.stay() }, 'Stay here'),
    );
    this.#opening = setTimeout(() => {
      if (this.#isBusy || this.#awaited().length > 0) this.stay();
      else open();
    }, NEXT_MILLIS);
  }

  /** Does not open the next thread. Returns whether it would have been opened. */
  stay() {
    clearTimeout(this.#opening);
    const wasGoing = this.next.childNodes.length > 0;
    replaceChildren(this.next);
    return wasGoing;
  }

  /** The title of the thread, if it is known. */
  get title() {
    return this.#view && (titleOf(this.#view.messages) ?? this.#view.agent);
  }

  /** Shows or hides a panel beside the conversation. */
  showPanel(name) {
    this.#panel = this.#panel === name ? '' : name;
    // On a phone, the panel covers the version that was chosen in it.
    if (this.#panel === '' && !matchMedia('(max-width: 760px)').matches) this.#past = undefined;
    this.side.hidden = this.#panel === '';
    if (this.#panel !== '') {
      const tab = ([id, label]) => h('button', { 'aria-pressed': String(id === this.#panel), onclick: () => id !== this.#panel && this.showPanel(id) }, label);
      replaceChildren(
        this.side,
        h(
          'div',
          { class: 'side-head' },
          h('div', { class: 'tabs', role: 'group', 'aria-label': 'Panel' }, Object.entries(PANELS).map(tab)),
          h('button', { class: 'quiet', 'aria-label': 'Close panel', onclick: () => this.showPanel('') }, '✕'),
        ),
        this[this.#panel].element,
      );
      if (this.#panel === 'timeline') this.timeline.load();
    }
    this.#noteAddress(true);
    this.show();
  }

  /** Changes the address; a way back leads to another panel, and from a version to the current state. */
  #noteAddress(isStep) {
    if (this.#isGoing) return;
    const link = threadLink(this.thread, { panel: this.#panel, version: this.#past?.version ?? this.#wanted, call: this.#call });
    if (isStep) addToHistory(link);
    else noteAddress(link);
  }

  #quietly(run) {
    this.#isGoing = true;
    run();
    this.#isGoing = false;
  }

  /** Shows another place of this thread, when the browser goes back or forward, or follows a link. */
  go({ panel = '', version, call }) {
    this.#quietly(() => {
      if (panel !== this.#panel && (panel === '' || panel in PANELS)) this.showPanel(panel === '' ? this.#panel : panel);
    });
    if (call !== undefined && call !== this.#call) {
      this.#call = call;
      this.#showCall();
    }
    if (version !== undefined && Number(version) !== this.#past?.version) this.timeline.goTo(Number(version));
    else if (version === undefined && this.#past !== undefined) this.timeline.newest();
  }

  /** Opens the field that finds words, and the outline of a long thread. */
  find() {
    this.finder.open();
  }

  #jump() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.messages.focus({ preventScroll: true });
  }

  #showJump() {
    this.toNewest.hidden = this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight < 400;
  }

  /** Called if there is no such version as the address names. */
  lacksVersion(version) {
    this.#wanted = undefined;
    this.#past = undefined;
    this.#tell('version', `There is no version ${version} of this thread. You see the newest.`);
    this.show();
  }

  /** Whether a version is being read, which takes a while for a long thread. */
  reads(whether) {
    this.element.setAttribute('aria-busy', String(whether));
  }

  stepVersion(by) {
    if (this.#panel === 'timeline') this.timeline.step(by);
  }

  /** The panel that is open, or none. */
  get panel() {
    return this.#panel;
  }

  /** Shows an earlier state instead of the current one. */
  showPast(view) {
    const isStep = this.#wanted === undefined && (this.#past === undefined) !== (view === undefined);
    this.#past = view;
    this.#wanted = undefined;
    this.#tell('version', '');
    this.#noteAddress(isStep);
    this.show();
  }

  async #open() {
    await this.#load();
    if (this.#gone || this.#view === undefined) return;
    this.#readFork();
    if (!this.#showCall() && !this.#showFirstRequest()) this.scroller.scrollTop = this.scroller.scrollHeight;
    this.#endStream = follow(`${threadPath(this.thread)}/events`, this.#view.position, {
      event: (name, document) => this.#happened(name, document),
      connected: (whether) => this.#tell('connection', whether ? '' : 'Connection lost. Reconnecting …'),
      refused: (problem) => this.#tell('connection', wordsOf(problem)),
    });
  }

  /** Shows the call that the address names, as soon as there is one. Returns whether there is. */
  #showCall() {
    const isThere = this.#call !== undefined && (this.#past ?? this.#view).calls.some(({ callId }) => callId === this.#call);
    const card = isThere ? this.conversation.find(this.#call) : null;
    this.#lacksCall = this.#call !== undefined && card === null;
    if (card === null) return false;
    card.open = true;
    card.scrollIntoView({ block: 'center' });
    card.querySelector('summary').focus();
    return true;
  }

  /** A thread that waits for the user opens at its first request. Returns whether there is one. */
  #showFirstRequest() {
    const [first] = this.#awaited();
    if (first === undefined) return false;
    if (document.activeElement === this.messages) this.#showRequest(first);
    else first.scrollIntoView({ block: 'start' });
    return true;
  }

  /** Where this thread began, if it is a fork. */
  async #readFork() {
    try {
      this.#fork = (await get(threadPath(this.thread))).forkedFrom;
      this.show();
      if (this.#fork === undefined) return;
      const origin = await originOf(this.#fork);
      this.#fork = { ...this.#fork, title: origin.title };
      this.conversation.begunFrom(origin);
      this.show();
    } catch {
      // The page says what else it cannot read.
    }
  }

  #happened(name, document) {
    if (name === 'text-delta') {
      this.#live.add(document);
      this.#showSoon();
      return;
    }
    if (name === 'reasoning-delta') {
      this.#live.think(document);
      this.#showSoon();
      return;
    }
    if (name === 'calls-running') {
      this.#live.runs(document);
      this.#showSoon();
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
      this.show();
      if (this.#lacksCall) this.#showCall();
      if (this.#panel === 'timeline') this.timeline.load();
      this.onChange(view);
    } catch (problem) {
      if (this.#view === undefined) this.#showFailure(problem);
      else this.#tell('load', wordsOf(problem));
      untilReached(problem, () => !this.#gone && this.refresh());
    } finally {
      this.#loading = false;
    }
    if (this.#isStale && !this.#gone) this.refresh();
  }

  /** Says why there is no thread to show, and what to do. */
  #showFailure(problem) {
    const isMissing = problem.status === 404 || problem.status === 410;
    replaceChildren(
      this.element,
      h(
        'div',
        { class: 'empty failure', role: 'alert' },
        h('h1', {}, isMissing ? 'There is no such thread' : 'The thread cannot be read'),
        h('p', {}, h('code', {}, this.thread)),
        h(
          'p',
          {},
          problem.status === 404
            ? `Its id may be mistyped, or the server may have deleted it after its retention time${session.caller.subject === undefined ? '' : ', or it belongs to somebody else'}.`
            : wordsOf(problem),
        ),
        h(
          'div',
          { class: 'row' },
          isMissing ? null : h('button', { class: 'primary', onclick: () => location.reload() }, 'Try again'),
          h('a', { class: 'button', href: '#/' }, 'Back to the list'),
        ),
      ),
    );
  }

  /** Shows a note above the conversation, until an empty note replaces it. */
  #tell(about, words) {
    if (words === '') this.#notes.delete(about);
    else this.#notes.set(about, words);
    const all = [...this.#notes.values()].join(' ');
    this.banner.hidden = all === '';
    if (this.banner.textContent !== all) replaceChildren(this.banner, all);
  }

  /** Shows what has changed, at most once for each frame, and less often if that takes long. */
  #showSoon() {
    if (this.#frame !== undefined) return;
    this.#frame = setTimeout(() => {
      this.#frame = undefined;
      if (this.#gone) return;
      const begun = performance.now();
      this.show();
      this.#pause = Math.max(FRAME_MILLIS, 4 * (performance.now() - begun));
    }, this.#pause);
  }

  /** Shows what is known of the thread. */
  show() {
    if (this.#view === undefined || this.#gone || this.#wanted !== undefined) return;
    if (!this.#isShown) replaceChildren(this.messages);
    // At first there is nothing that could come under the pointer instead of something else.
    if (this.#isShown) guardMoved(this.decisions, () => this.#showAll());
    else this.#showAll();
    this.#isShown = true;
  }

  #showAll() {
    const view = this.#past ?? this.#view;
    const atEnd = this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight < 80;
    this.element.classList.toggle('past', this.#past !== undefined);
    this.conversation.show(view, this.#past ? undefined : this.#live);
    const hadFocus = this.decisions.contains(document.activeElement);
    showList(this.decisions, this.#past ? [] : decisionItems(view, this, this.decisions));
    // Shortcuts and the Tab key go on from the next card. It is not a button, so that a second press decides nothing.
    if (hadFocus && !this.decisions.contains(document.activeElement)) (this.decisions.querySelector('.decision') ?? this.messages).focus({ preventScroll: true });
    this.decisions.hidden = this.decisions.childNodes.length === 0;
    this.#watchQuestion();
    this.#showActivity();
    this.#showHeader();
    this.#showFoot();
    if (this.#panel === 'details') this.details.show(view, this.#fork?.thread);
    if (this.#panel === 'workspace') this.workspace.show(view);
    if (atEnd) this.scroller.scrollTop = this.scroller.scrollHeight;
    this.#showJump();
  }

  #watchQuestion() {
    const question = this.decisions.querySelector('.decision.question:not(.decided)');
    if (question === this.#question) return;
    this.#question = question;
    this.#inView.disconnect();
    if (question !== null) this.#inView.observe(question);
  }

  #showActivity() {
    const view = this.#view;
    const running = this.#live.tools.concat(view.calls.filter((call) => ['dispatched', 'claimed', 'remote', 'following', 'delegated', 'verifying'].includes(call.phase)).map((call) => call.tool));
    const words = this.#past || !view.open || view.status !== 'running' || (this.#live.text !== '' && running.length === 0)
      ? ''
      : running.length > 0
        ? `Running ${running.join(', ')} …`
        : 'Thinking …';
    this.activity.hidden = words === '';
    if (this.activity.textContent !== words) replaceChildren(this.activity, words);
    announce(view.status === 'running' ? '' : `${view.agent}: ${threadWords(view)}`);
  }

  #showHeader() {
    const view = this.#view;
    const shown = this.#past ?? view;
    const signature = JSON.stringify([shown.position, threadWords(view), view.open, shown.costUsd, view.inherited, this.title, this.#panel, this.#fork, hasWorkspace(view)]);
    if (this.header.dataset.signature === signature) return;
    this.header.dataset.signature = signature;
    const isRunning = view.open && (view.status === 'running' || view.status === 'interrupted');
    replaceChildren(
      this.header,
      backLink(),
      h(
        'div',
        { class: 'who' },
        h('h1', { title: this.title }, h('bdi', {}, this.title)),
        h(
          'p',
          { class: 'muted' },
          h('bdi', { class: 'agent-name' }, view.agent),
          shown.costUsd === null ? null : ` · ${costWords(shown)}`,
          this.#fork === undefined ? null : [' · fork of ', forkOrigin(this.#fork)],
        ),
      ),
      h('span', { class: `chip ${view.open || this.#past ? shown.status : 'quiet'}` }, view.open || this.#past ? threadWords(shown) : 'closed'),
      h(
        'div',
        { class: 'actions' },
        isRunning && session.may('talk') ? h('button', { onclick: () => this.command('stop') }, 'Stop') : null,
        // An open panel has tabs.
        Object.entries(PANELS)
          .filter(([id]) => this.#panel === '' && (id !== 'workspace' || hasWorkspace(view)))
          .map(([id, label]) => h('button', { onclick: () => this.showPanel(id) }, label)),
      ),
    );
  }

  #showFoot() {
    const view = this.#view;
    const question = view.pending.find(({ kind }) => kind === 'question');
    if (question === undefined) this.#messageInstead = false;
    const isEnded = ['failed', 'stopped'].includes(view.status);
    const isForked = view.error?.type === 'Forked';
    const isUndecided = view.pending.some(({ kind }) => kind !== 'question');
    const kind = this.#past ? `past ${this.#past.version}` : !view.open ? 'closed' : !session.may('talk') ? 'look' : isEnded ? (isForked ? 'forked' : 'ended') : question === undefined ? (isUndecided ? 'undecided' : 'open') : this.#messageInstead ? 'instead' : 'asked';
    if (this.foot.dataset.kind === kind) return;
    this.foot.dataset.kind = kind;
    const mayTalk = session.may('talk');
    const isTyping = document.activeElement === this.composer.field;
    const hint = (words, ...actions) => h('div', { class: 'row retry' }, h('p', { class: 'muted' }, words), actions);
    const goOn = (why, words) => [hint(why, h('button', { onclick: () => this.command('say', { retry: true }) }, words)), this.composer.element];
    const resume = h('button', { class: 'primary', onclick: () => this.#resume() }, 'Continue in a new thread');
    const content = {
      open: () => this.composer.element,
      undecided: () => [hint('A message does not decide what waits above: the agent reads it after the decision.'), this.composer.element],
      ended: () => goOn(`The last turn ended: ${statusWords(view.status)}.`, 'Try again'),
      forked: () => goOn('The fork begins here, in the middle of a turn.', 'Continue'),
      asked: () =>
        hint(
          'The agent waits for your answer above.',
          h(
            'div',
            { class: 'row' },
            this.toQuestion,
            h('button', { onclick: () => this.focusComposer() }, 'Write a message instead'),
          ),
        ),
      instead: () => [
        hint(
          'This is not the answer: the question stays open, and the agent reads the message after it.',
          h('button', { class: 'quiet', onclick: () => this.focusDecision('.question') }, 'Back to the question'),
        ),
        this.composer.element,
      ],
      look: () => h('p', { class: 'muted' }, 'Your role allows you to read.'),
      closed: () => hint('This thread is closed.', mayTalk && view.parent === undefined ? resume : null),
    }[kind];
    replaceChildren(
      this.foot,
      content?.() ??
        h(
          'div',
          { class: 'row retry' },
          h('p', { title: exactTime(this.#past.at) }, h('strong', {}, `Version ${this.#past.version}`), `, as it was at ${clock(this.#past.at)}.`),
          h('button', { onclick: () => this.timeline.newest() }, 'Back to now'),
        ),
    );
    // An element that is put elsewhere loses the focus.
    if (isTyping && this.composer.field.isConnected) this.composer.field.focus();
  }

  /**
   * Continues in a new thread, with a message, from the place before another one.
   *
   * @param place the thread, and an event, a version, or `0` for its start: the new thread has the same context
   */
  #again({ thread, at }, message) {
    return this.#post(`${threadPath(thread)}/fork`, JSON.stringify({ at, message }));
  }

  async #resume() {
    try {
      const { thread } = await post(`${threadPath(this.thread)}/resume`, {});
      goToThread(thread);
    } catch (problem) {
      this.#tellOfCommand('command', problem);
    }
  }

  #tellOfCommand(about, problem) {
    this.#tell(about, wordsOf(problem));
    untilReached(problem, () => this.#tell(about, ''));
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
    });
    sendAtEnter(field);
    const button = h('button', { class: 'primary', type: 'submit' }, 'Send');
    const problem = problemLine();
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
            if (this.#messageInstead) {
              this.#messageInstead = false;
              this.show();
              this.focusDecision('.question');
            }
            this.scroller.scrollTop = this.scroller.scrollHeight;
          } catch (failure) {
            showProblem(problem, failure);
            if (failure.messageId !== undefined) sent = { ...sent, id: failure.messageId };
            takeBack();
          }
          button.disabled = false;
          if (field.isConnected) field.focus();
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
      this.#tellOfCommand(problem.code === 'NoWorker' ? 'worker' : 'command', problem);
    }
  }
}

/** The thread that a fork copied, and how far. */
function forkOrigin({ thread, version, title }) {
  const place = version === 0 ? {} : { panel: 'timeline', version };
  return [h('a', { href: threadLink(thread, place) }, h('bdi', {}, title ?? shortId(thread))), version === 0 ? ', from its start' : `, version ${version}`];
}

/** Makes a text field as high as its text. */
function grow(field) {
  field.rows = Math.min(12, Math.max(1, field.value.split('\n').length, Math.ceil(field.value.length / 70)));
}
