// What waits for a person: approvals, questions, and calls whose outcome is unknown.
import { alikeLink, threadLink } from './address.js';
import { get, sender, showProblem, threadPath, wordsOf } from './api.js';
import { ArgumentEditor } from './argument-editor.js';
import { decider } from './call-card.js';
import { copyButton } from './copy.js';
import { facts, h, problemLine, replaceChildren, sendAtEnter } from './dom.js';
import { clock, commandLine, exactTime, shellWord } from './format.js';
import { GrantForm } from './grant-form.js';
import { inLine, jsonBlock } from './json-text.js';
import { excerpt } from './safe-text.js';
import { session } from './session.js';

/** How long a card stays after its decision, so that the next one does not come under a pointer that clicks again. */
const KEPT_MILLIS = 1_500;
/** How long the buttons of a card that has moved ignore the pointer. */
const MOVED_MILLIS = 1_000;

/** What happens if nobody decides or answers in time, by the kind of the request. */
const AFTERWARDS = {
  approval: 'it is denied',
  question: 'the model is told that nobody answered',
  unknown: 'the model is told that the outcome is unknown',
};

/** How long the arguments in the line above the buttons may be. */
const LONGEST_LINE = 160;

/** The fields of a card in which people write. */
const WRITTEN = ':is(.answer textarea, label > input, .argument-editor textarea.mono)';

/** The card that an element belongs to. */
const cards = new WeakMap();

export const cardOf = (element) => cards.get(element?.closest('.decision'));

/**
 * The items for a list of cards. A card keeps what was typed into it as long as its item stays the same; if the
 * arguments change, it is a new card. A card that was decided here stays in its place for a moment.
 *
 * @param page `thread`, `decisions` (the element with the cards), `refresh()` to read the thread again, and `show()` to
 *     show it again
 * @param parent the element that shows the list
 */
export function decisionItems(view, page, parent) {
  const threads = new Map();
  /** The cards of one subagent share what is read of its thread. */
  const read = (thread) => {
    if (!threads.has(thread)) threads.set(thread, get(`${threadPath(thread)}/conversation`));
    return threads.get(thread);
  };
  const items = view.pending.map((item) => {
    const call = view.calls.find(({ callId }) => callId === item.callId);
    return {
      key: keyOf(item),
      signature: JSON.stringify([contentOf(item, call), item.since]),
      render: (old) => (cards.get(old)?.isStillAbout(item, call) ? old : new Card(item, call, view, page, read).element),
    };
  });
  let place = 0;
  for (const element of parent.children) {
    const card = cards.get(element);
    const at = items.findIndex(({ key }) => key === keyOf(card.item));
    if (at >= 0) place = at + 1;
    else if (card.isKept() || card.isNote(view)) items.splice(place++, 0, { key: keyOf(card.item), signature: 'decided', render: () => element });
  }
  return items;
}

const keyOf = ({ kind, callId }) => `${kind} ${callId}`;

/**
 * Lets cards that have moved ignore the pointer for a moment: a click was meant for what was there before.
 *
 * @param change what may move cards
 */
export function guardMoved(parent, change) {
  const top = (element) => element.getBoundingClientRect().top;
  const before = new Map([...parent.children].map((element) => [element, top(element)]));
  change();
  for (const element of parent.children) {
    if (Math.abs(top(element) - (before.get(element) ?? Infinity)) > 2) cards.get(element).ignorePointer();
  }
}

/** What a card shows, without its times. */
function contentOf({ since, until, ...item }, call) {
  return JSON.stringify([item, call?.claimedAt, call?.key, call?.dispatches]);
}

const DECIDED = { approve: 'Approved', deny: 'Denied', answer: 'Answered', settle: 'Settled' };
const HEADINGS = { approval: 'Approval needed', question: 'Question', unknown: 'Outcome unknown' };

class Card {
  #post = sender();
  #isSent = false;
  /** What the subagent's own thread says about its request. */
  #owner;
  /** What was decided, as the receipt says it, and whether the receipt is still shown. */
  #decided;
  #isKept;
  #moved;
  #focusedAt = Infinity;
  /** Whether the card says who decided elsewhere, until somebody hides it. */
  #note;

  constructor(item, call, view, page, read) {
    this.item = item;
    this.call = call;
    this.page = page;
    this.path = item.callId.split('/').slice(0, -1);
    this.waits = h('p', { class: 'muted' });
    this.about = h('p', { class: 'muted', dir: 'auto' });
    if (this.path.length > 0) this.#owner = this.#readOwner(view, read);
    this.problem = problemLine();
    this.heading = h('h3', {}, HEADINGS[item.kind]);
    this.controls = h('div', { class: 'controls' });
    this.element = h(
      'section',
      { class: `decision ${item.kind}`, 'aria-label': `${HEADINGS[item.kind]}: ${item.tool}`, 'data-call': item.callId, tabindex: '-1' },
      h(
        'header',
        { 'aria-live': 'polite' },
        this.heading,
        item.kind === 'question' ? null : h('span', { class: 'tool' }, item.tool),
      ),
      this.#origin(view),
      this.waits,
      item.kind === 'question' ? null : this.about,
      this.item.notes.map((words) => h('p', { class: 'from-file', dir: 'auto' }, words)),
      this.#body(),
      this.controls,
      this.problem,
    );
    cards.set(this.element, this);
    // Somebody who clicks again and again has not seen yet that another card is here.
    this.element.addEventListener('pointerdown', () => this.element.classList.contains('moved') && this.ignorePointer());
    this.element.addEventListener('focusin', ({ relatedTarget }) => {
      if (!this.element.contains(relatedTarget)) this.#focusedAt = performance.now();
    });
    this.element.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.target !== this.element || item.kind !== 'question') return;
      event.preventDefault();
      this.controls.querySelector('textarea')?.focus();
    });
    this.#describe(item);
    this.#owner?.then(({ request }) => this.#describe(request), () => {});
  }

  /** Shows what is known of the request itself, in this thread or in the subagent's. */
  #describe({ description = '', until }) {
    this.about.hidden = description === '';
    replaceChildren(this.about, description);
    const time = (instant) => h('time', { datetime: instant, title: exactTime(instant) }, clock(instant));
    replaceChildren(
      this.waits,
      `Waits for ${this.#waitsFor()}, since `,
      time(this.item.since),
      until ? [', until ', time(until), `. Then ${AFTERWARDS[this.item.kind]}`] : null,
      '.',
    );
  }

  #waitsFor() {
    const signers = Object.keys(this.item.signers?.keys ?? {});
    if (signers.length > 0) return `a decision signed by ${signers.join(' or ')}`;
    const [what, role] = this.item.kind === 'question' ? ['an answer', 'talk'] : ['a decision', 'decide'];
    return session.caller.subject === undefined ? what : `${what} by somebody with the role “${role}”`;
  }

  /**
   * Whether only the time has changed, and nothing was sent. A request that a workflow task has yet to record is shown
   * with the time at which it arrived, and afterwards with that of the task.
   */
  isStillAbout(item, call) {
    return !this.#isSent && contentOf(item, call) === contentOf(this.item, this.call);
  }

  /** Whether the card still shows the decision that was made with it. Called when its item no longer waits. */
  isKept() {
    if (this.#decided === undefined) return false;
    if (this.#isKept === undefined) {
      this.#isKept = true;
      setTimeout(() => {
        this.#isKept = false;
        this.page.show();
        if (this.item.kind !== 'question') this.page.afterDecision();
      }, KEPT_MILLIS);
    }
    return this.#isKept;
  }

  /** Whether the card says what became of its request, which was not decided with it. Called when the item no longer waits. */
  isNote(view) {
    if (this.#decided !== undefined) return false;
    this.#note ??= this.#showNote(decidedWords(this.item, view.calls.find(({ callId }) => callId === this.item.callId)));
    return this.#note;
  }

  /** Says who decided what and when, and keeps what was written here. Returns whether there is anything to say. */
  #showNote(words) {
    const written = [...this.controls.querySelectorAll(WRITTEN)].map(({ value }) => value).filter((value) => value.trim() !== '').join('\n');
    const isBelow = this.path.length > 0;
    if (words === undefined && written === '' && !isBelow) return false;
    const hide = () => {
      this.#note = false;
      this.page.show();
    };
    const heading = h('h3', {}, words ?? 'It no longer waits');
    this.element.classList.add('decided');
    replaceChildren(
      this.element,
      h('header', {}, heading, h('button', { class: 'quiet', onclick: hide }, 'Hide')),
      h('p', { class: 'muted', dir: 'auto' }, excerpt(this.item.question ?? `${this.item.tool} ${inLine(this.argsText ?? '{}')}`, LONGEST_LINE)),
      written === '' ? null : [h('p', {}, 'You had written:'), h('pre', { class: 'text', dir: 'auto', tabindex: '0' }, written), h('div', { class: 'row' }, copyButton(() => written))],
    );
    if (isBelow) this.#readDecision(heading);
    return true;
  }

  /** What a subagent asked for is decided in its own thread, which knows by whom. */
  async #readDecision(heading) {
    try {
      const { calls } = await get(`${threadPath([this.page.thread, ...this.path].join('/'))}/conversation`);
      const id = this.item.callId.split('/').at(-1);
      const words = decidedWords(this.item, calls.find(({ callId }) => callId === id));
      if (words !== undefined) replaceChildren(heading, words);
    } catch {
      // The heading says what is known.
    }
  }

  /** Decides at the press of a key. A key that was meant for another card, or is pressed twice, does nothing. */
  byKey(name) {
    const isNew = this.element.classList.contains('moved') || performance.now() - this.#focusedAt < MOVED_MILLIS;
    const isAsked = this.item.kind === 'approval' && this.argsText !== undefined && this.#mayDecide();
    if (!isAsked || isNew || this.#isSent || this.controls.querySelector('form') !== null) return;
    if (name === 'approve') this.#send('approve', {});
    else this.#deny();
  }

  /** Whether the user may decide here. */
  get isAwaited() {
    return this.#decided === undefined && this.#note === undefined && session.isAwaited([this.item]);
  }

  ignorePointer() {
    clearTimeout(this.#moved);
    this.element.classList.add('moved');
    this.#moved = setTimeout(() => this.element.classList.remove('moved'), MOVED_MILLIS);
  }

  /** Whose request it is: the subagents on the way to it, each with its task. */
  #origin(view) {
    if (this.path.length === 0) return null;
    const place = h('ol', { class: 'path', 'aria-label': 'Whose request this is' });
    const show = (steps) =>
      replaceChildren(
        place,
        h('li', {}, h('bdi', {}, view.agent)),
        steps.map(({ agent, task, thread }) =>
          h('li', {}, h('a', { href: threadLink(thread) }, h('bdi', {}, agent)), task ? [': ', h('bdi', { title: task }, excerpt(task, 120))] : null),
        ),
      );
    const thread = `${view.thread}/${this.path[0]}`;
    show([{ ...subagentOf(view, this.path[0]), thread }]);
    this.#owner.then(({ steps }) => show(steps), () => {});
    return place;
  }

  /** Reads the threads on the way to the request. */
  async #readOwner(view, read) {
    const steps = [];
    let owner = view;
    for (const callId of this.path) {
      const thread = `${owner.thread}/${callId}`;
      steps.push({ ...subagentOf(owner, callId), thread });
      owner = await read(thread);
    }
    const callId = this.item.callId.split('/').at(-1);
    const request = owner.pending.find((item) => item.callId === callId && item.argsDigest === this.item.argsDigest);
    if (request === undefined) throw new Error('its thread no longer waits for this decision');
    return { steps, request };
  }

  #body() {
    switch (this.item.kind) {
      case 'question':
        this.#question();
        return h('p', { class: 'question', dir: 'auto' }, this.item.question || 'The question is not known.');
      case 'approval':
        return this.#withArguments(() => this.#approval());
      default:
        return this.#withArguments(() => this.#outcome());
    }
  }

  /** Decisions need all arguments. Those of a subagent may be too long for its parent, and are read from its thread. */
  #withArguments(then) {
    const place = h('div', { class: 'proposed' });
    const show = (text) => {
      this.argsText = text;
      replaceChildren(
        place,
        h('h4', {}, this.item.kind === 'approval' ? 'Runs with exactly these arguments' : 'Ran with these arguments'),
        jsonBlock(text, `Arguments of ${this.item.tool}`),
        this.#seen(),
        this.#identifiers(),
      );
      this.#mayDecide() ? then() : replaceChildren(this.controls, this.#refusal());
    };
    if (!this.item.argsCut) {
      show(this.item.argsText);
    } else {
      replaceChildren(place, h('p', {}, 'Reading the arguments from the subagent’s thread …'));
      this.#readFromSubagent().then(show, (failure) => {
        this.problem.textContent = `The arguments are too long to be shown here, and cannot be read: ${wordsOf(failure)}`;
      });
    }
    return place;
  }

  async #readFromSubagent() {
    const { request } = await this.#owner;
    if (request.argsCut) throw new Error('its thread has not got all of them either');
    return request.argsText;
  }

  /** What is known of an execution whose outcome is unknown. */
  #seen() {
    if (this.item.kind !== 'unknown') return null;
    return facts([
      ['Seen', this.item.evidence ? h('bdi', {}, this.item.evidence) : 'the worker that ran it was lost'],
      ['Started', this.call?.claimedAt && clock(this.call.claimedAt)],
      ['Dispatched', this.call?.dispatches && (this.call.dispatches === 1 ? 'once' : `${this.call.dispatches} times`)],
    ]);
  }

  #identifiers() {
    return h(
      'details',
      { class: 'identifiers' },
      h('summary', {}, 'Identifiers'),
      facts([
        ['Digest', this.item.kind === 'approval' && h('code', {}, this.item.argsDigest)],
        ['Idempotency key', this.call?.key && h('code', {}, this.call.key)],
        ['Call', h('code', {}, this.item.callId)],
      ]),
    );
  }

  #mayDecide() {
    return session.may('decide') && this.item.signers === undefined;
  }

  #refusal() {
    if (this.item.signers === undefined) return h('p', { class: 'muted' }, 'Waits for somebody who may decide.');
    const command = this.item.kind === 'approval' ? 'approve' : 'settle';
    return h(
      'div',
      {},
      h('p', {}, 'Only a signed decision counts. Private keys do not belong into a browser; decide at a terminal:'),
      h('pre', { class: 'text', tabindex: '0' }, commandLine(`${command} ${shellWord(this.page.thread)} --call ${shellWord(this.item.callId)} --by NAME --key FILE`)),
    );
  }

  #approval() {
    const alike = this.page.alike(this.item.tool).length;
    replaceChildren(
      this.controls,
      this.#what(),
      h('button', { class: 'primary', onclick: () => this.#send('approve', {}) }, 'Approve'),
      this.item.mayHaveRun ? null : h('button', { onclick: () => this.#edit() }, 'Edit arguments'),
      h('button', { onclick: () => this.#grant() }, 'Approve later calls, too'),
      h('button', { class: 'danger', onclick: () => this.#deny() }, 'Deny'),
      alike === 0 ? null : h('a', { href: alikeLink(this.item.tool) }, `Decide with ${alike} other${alike === 1 ? '' : 's'} …`),
    );
  }

  /** What the buttons beside it are about: they stay in view while the arguments are scrolled. */
  #what() {
    return h('p', { class: 'what' }, h('span', { class: 'tool' }, this.item.tool), ' ', h('bdi', {}, excerpt(inLine(this.argsText), LONGEST_LINE)));
  }

  async #edit() {
    const request = (await this.#owner?.catch(() => undefined))?.request ?? this.item;
    const editor = new ArgumentEditor(this.argsText, request.schema);
    const reason = reasonField('Reason (optional)');
    this.#form([editor.element, reason.label], 'Approve with these arguments', 'primary', () => {
      this.problem.textContent = editor.problem;
      // As text: parsing would round large numbers.
      return editor.problem === '' ? this.#send('approve', reason.body(), `"args":${editor.text}`, editor.isChanged ? 'Approved with changes' : undefined) : undefined;
    });
    editor.focus();
  }

  /** Approves this call, and later ones. */
  async #grant() {
    const request = (await this.#owner?.catch(() => undefined))?.request ?? this.item;
    const grant = new GrantForm(this.item.tool, this.argsText, request.schema);
    const send = () => this.#send('approve', {}, `"grant":${grant.text}`);
    this.#form([grant.element], 'Approve this call and later ones', 'primary', () => {
      this.problem.textContent = grant.problem;
      if (grant.problem !== '') return undefined;
      return grant.isAny ? this.#confirmAny(send) : send();
    });
    grant.focus();
  }

  #confirmAny(send) {
    const words = `Nobody will be asked about later calls of ${this.item.tool}, whatever their arguments are.`;
    this.#form([h('p', { class: 'from-file' }, words)], 'Yes, with any arguments', 'danger', send);
    this.ignorePointer();
  }

  #deny() {
    const reason = reasonField('Reason, which the model is told');
    this.#form([reason.label], 'Deny', 'danger', () => this.#send('deny', reason.body()));
    reason.field.focus();
  }

  #outcome() {
    const choose = (note, outcome, fields = []) => {
      const label = { done: 'It took effect', 'not-done': 'It did not happen', rerun: 'Run it again', 'give-up': 'Tell the model' }[outcome];
      const all = [...fields, reasonField('Note for people, such as where you looked (optional)', 'note')];
      this.#form([h('p', {}, note), ...all.map((field) => field.label)], label, outcome === 'rerun' ? 'danger' : 'primary', () =>
        this.#send('settle', { outcome, ...Object.assign({}, ...all.map((field) => field.body())) }),
      );
    };
    const result = reasonField('Its result, for the model (optional)', 'result');
    replaceChildren(
      this.controls,
      this.#what(),
      h('button', { onclick: () => choose('The model continues as after a success.', 'done', [result]) }, 'It took effect …'),
      this.item.outcomes.includes('not-done')
        ? h(
            'button',
            { onclick: () => choose('The model is told that the call did not take effect. It does not run again by itself. The model hears it when the lost run can no longer be running; if it reports before that, its report counts.', 'not-done') },
            'It did not happen …',
          )
        : null,
      this.item.rerun
        ? h(
            'button',
            { onclick: () => choose('The tool runs again, with the same idempotency key. If the lost run took effect after all, the effect can happen twice.', 'rerun') },
            'Run it again …',
          )
        : null,
      h('button', { onclick: () => choose('The model is told that the outcome is unknown.', 'give-up') }, 'Leave it unknown …'),
      this.item.whyNoRerun ? h('p', { class: 'muted' }, `It can’t be run again: ${this.item.whyNoRerun}.`) : null,
    );
  }

  #question() {
    if (!session.may('talk')) {
      replaceChildren(this.controls, h('p', { class: 'muted' }, 'Waits for somebody who may answer.'));
      return;
    }
    const field = h('textarea', { rows: '2', 'aria-label': 'Answer', placeholder: 'Your answer' });
    const form = h(
      'form',
      {
        class: 'answer',
        onsubmit: (event) => {
          event.preventDefault();
          if (field.value.trim() !== '') this.#send('answer', { answer: field.value });
        },
      },
      field,
      h('button', { class: 'primary', type: 'submit' }, 'Answer'),
    );
    sendAtEnter(field);
    field.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.element.focus({ preventScroll: true });
    });
    replaceChildren(this.controls, form);
  }

  /** Replaces the buttons by a form, with a way back. */
  #form(content, words, tone, submit) {
    this.problem.textContent = '';
    const before = [...this.controls.childNodes];
    const back = () => {
      this.problem.textContent = '';
      replaceChildren(this.controls, before);
      this.controls.querySelector('button').focus();
    };
    const form = h(
      'form',
      {
        onsubmit: (event) => {
          event.preventDefault();
          submit();
        },
      },
      content,
      h('div', { class: 'row' }, h('button', { class: tone, type: 'submit' }, words), h('button', { type: 'button', onclick: back }, 'Back')),
    );
    guardMoved(this.page.decisions, () => replaceChildren(this.controls, form));
    form.scrollIntoView({ block: 'nearest' });
  }

  /** Sends a decision about exactly what this card shows. */
  async #send(name, fields, rawField, decided = DECIDED[name]) {
    const body = { callId: this.item.callId, ...fields };
    if (name === 'approve' || name === 'deny') body.argsDigest = this.item.argsDigest;
    let text = JSON.stringify(body);
    if (rawField !== undefined) text = `${text.slice(0, -1)},${rawField}}`;
    this.#isSent = true;
    const focused = this.element.contains(document.activeElement) ? document.activeElement : undefined;
    this.#enable(false);
    this.problem.textContent = '';
    // A control that is disabled loses the focus.
    if (focused) this.element.focus({ preventScroll: true });
    try {
      await this.#post(`${threadPath(this.page.thread)}/${name}`, text);
      this.#decided = decided;
      this.#showReceipt();
    } catch (failure) {
      showProblem(this.problem, failure);
      this.#enable(true);
      if (document.activeElement === this.element) focused?.focus();
    }
    this.page.refresh();
  }

  /** Shows in one line what was decided, instead of what it was decided about. */
  #showReceipt() {
    guardMoved(this.page.decisions, () => {
      this.element.classList.add('decided');
      replaceChildren(this.heading, this.#decided);
      replaceChildren(this.element, this.heading.parentElement);
    });
    if (this.item.kind !== 'question') this.page.decided();
  }

  #enable(whether) {
    this.controls.querySelectorAll('button, textarea, input, select').forEach((control) => {
      control.disabled = !whether;
    });
  }
}

function reasonField(words, name = 'reason') {
  const field = h('input', { type: 'text' });
  return {
    field,
    label: h('label', {}, words, field),
    body: () => (field.value.trim() === '' ? {} : { [name]: field.value }),
  };
}

/** What became of a request that somebody else has decided; undefined if nobody has. */
function decidedWords({ kind }, { approval, settled, status, since } = {}) {
  const by = (decision) => `${decision.by || decision.verified ? `by ${decider(decision)}` : 'elsewhere'}, ${clock(decision.at)}`;
  if (approval) return `${approval.approved ? 'Approved' : 'Denied'} ${by(approval)}`;
  if (settled) return `Settled ${by(settled)}`;
  if (kind === 'question' && status === 'completed') return `Answered, ${clock(since)}`;
  return undefined;
}

const subagentOf = (view, callId) => {
  const call = view.calls.find((each) => each.callId === callId);
  return { agent: call?.tool ?? callId, task: typeof call?.args?.task === 'string' ? call.args.task : undefined };
};
