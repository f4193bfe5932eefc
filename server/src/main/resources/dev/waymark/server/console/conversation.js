// The messages of a thread.
import { callCard } from './call-card.js';
import { copyButton } from './copy.js';
import { h, problemLine, replaceChildren, showList } from './dom.js';
import { between, clock, exactTime, spentWords, statusWords } from './format.js';
import { paragraphs, showMarkdown, showSwitchable } from './markdown.js';
import { isOfPerson, placesBefore, textOf } from './origins.js';
import { startThread } from './start-thread.js';

/** The newest items are shown at once, and earlier ones whenever the browser has time, so that no thread is too long. */
const AT_ONCE = 40;
const PART = 25;
const FOUND_MILLIS = 2_000;

/** Shows states of a thread, as `/conversation` returns them. */
export class Conversation {
  #items = { list: [], end: [] };
  #most = AT_ONCE;
  #waiting = false;
  #last;
  #origin;

  /**
   * @param element the element that contains the messages
   * @param again `again(place, text)` to continue with a message in a new thread; absent if the user may not
   */
  constructor(element, again) {
    this.element = element;
    this.again = again;
  }

  /** Called when it is known what the thread has from the one that it copied. */
  begunFrom(origin) {
    this.#origin = origin;
    this.#items = { list: [], end: [] };
  }

  show(view, live) {
    this.#last = [view, live];
    // Words of a reply arrive often, and change no other item.
    if (this.#items.view !== view) this.#items = { view, ...itemsOf(view, this.#origin, view.current && !view.parent ? this.again : undefined) };
    const items = this.#items.list;
    const first = Math.max(0, items.length - this.#most);
    const newest = Math.max(first, items.length - AT_ONCE);
    showList(this.element, [...items.slice(first, newest).map(earlier), ...items.slice(newest), ...liveItem(live), ...queuedItems(view), ...this.#items.end]);
    if (first > 0) this.#growLater();
  }

  /** The texts of the thread that is shown, each with the key of its item. */
  get texts() {
    return this.#items.list.filter(({ text }) => text !== undefined);
  }

  /** Shows an item, and points at it. */
  goTo(key) {
    this.#most = Infinity;
    this.show(...this.#last);
    const at = this.#items.list.findIndex((item) => item.key === key);
    const element = this.element.children[at];
    if (element === undefined) return;
    if (element.matches('details')) element.open = true;
    element.scrollIntoView({ block: 'center' });
    element.classList.add('found');
    setTimeout(() => element.classList.remove('found'), FOUND_MILLIS);
  }

  /** Shows the item of this call, and returns its element. */
  find(callId) {
    this.#most = Infinity;
    this.show(...this.#last);
    return this.element.querySelector(`[data-call="${CSS.escape(callId)}"]`);
  }

  #growLater() {
    if (this.#waiting) return;
    this.#waiting = true;
    whenIdle(() => {
      this.#waiting = false;
      if (!this.element.isConnected) return;
      this.#most += PART;
      this.show(...this.#last);
    });
  }
}

/** An item that is seldom in view. */
const earlier = (item) => ({
  ...item,
  render: (old) => {
    const element = item.render(old);
    element.classList.add('earlier');
    return element;
  },
});

const whenIdle = (run) => (window.requestIdleCallback ? requestIdleCallback(run, { timeout: 500 }) : setTimeout(run, 30));

/** The messages, calls and turns, and the end of the last turn if it ended early. */
function itemsOf(view, origin, again) {
  const calls = new Map(view.calls.map((call) => [call.callId, call]));
  const turns = new Map((view.turns ?? []).filter(({ endedAt }) => endedAt).map((turn) => [turn.lastMessage, turn]));
  const places = again === undefined ? [] : placesBefore(view, origin);
  const ends = lastReplies(view.messages);
  let asked; // The newest message of a person, and the place before it.
  const list = view.messages.flatMap((message, i) => {
    const { role, content } = message;
    if (isOfPerson(message)) {
      asked = hasOnlyText(content) ? { text: textOf(content), place: places[i], ran: toolsThatRan(view.messages, i, calls) } : undefined;
    }
    const about = { again: asked?.place && (role === 'user' || ends.has(i)) ? again : undefined, asked, step: view.course?.[i] };
    const items =
      typeof content === 'string' ? [textItem(role, content, `m${i}`, about)] : content.flatMap((part, k) => partItem(role, part, `m${i}.${k}`, calls, about));
    const end = turns.get(i);
    return end === undefined ? items : [...items, turnItem(end)];
  });
  return { list: [...list, ...stoppedItem(view)], end: endItem(view, { again: view.status === 'failed' && asked?.place ? again : undefined, asked }) };
}

/** Whether a message can be sent again as its text. Pictures would be lost. */
const hasOnlyText = (content) =>
  textOf(content) !== '' && (typeof content === 'string' || content.every(({ type }) => type === 'text' || type === 'tool_result'));

/** The tools whose calls for a message of a person may have had effects: they may have them again if it is answered again. */
function toolsThatRan(messages, asked, calls) {
  const after = messages.slice(asked + 1);
  const next = after.findIndex(isOfPerson);
  const uses = after
    .slice(0, next < 0 ? undefined : next)
    .flatMap(({ content }) => (typeof content === 'string' ? [] : content.filter(({ type }) => type === 'tool_use')));
  return [...new Set(uses.filter(({ id }) => mayHaveHadEffects(calls.get(id))).map(({ name }) => name))];
}

/** A call with side effects is claimed before it runs. What the calls of a subagent did is not known here. */
function mayHaveHadEffects(call) {
  if (call === undefined) return true;
  if (call.settled?.outcome === 'not-done') return false;
  return [call.claimedAt, call.evidence, call.settled, call.subagent?.totalUsage].some((seen) => seen !== undefined);
}

/** The last reply to each message of a person. */
function lastReplies(messages) {
  const all = new Set();
  let last;
  messages.forEach((message, i) => {
    if (isOfPerson(message)) {
      all.add(last);
      last = undefined;
    } else if (message.role !== 'user' && textOf(message.content) !== '') {
      last = i;
    }
  });
  return all.add(last);
}

/** What a turn took, below its last message. */
function turnItem(turn) {
  const words = `Turn ${turn.turn}: ${spentWords(between(turn.startedAt, turn.endedAt), turn)}`;
  return { key: `turn-${turn.turn}`, signature: words, render: () => h('p', { class: 'turn muted' }, words) };
}

function partItem(role, part, key, calls, about) {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [textItem(role, part.text, key, about)];
    case 'tool_use': {
      const call = calls.get(part.id) ?? {
        callId: part.id,
        tool: part.name,
        args: part.input,
        argsText: JSON.stringify(part.input),
        status: 'issued',
      };
      const text = `${call.tool} ${call.argsText} ${call.wholeResult ?? call.result ?? ''}`;
      return [{ key: `call-${part.id}`, text, signature: JSON.stringify(call), render: (old) => callCard(call, old) }, ...answerItems(call)];
    }
    case 'image':
    case 'image_base64':
      return [{ key, signature: part.url ?? String(part.data.length), render: () => h('p', { class: `message ${role} muted` }, imageWords(part)) }];
    case 'tool_result':
      return []; // The result is shown with its call.
    case 'reasoning': // Without text, it is only for the service.
      return part.text === '' ? [] : [{ key, signature: part.text, render: () => thought(part.text) }];
    default:
      return [
        {
          key,
          signature: JSON.stringify(part),
          render: () =>
            h('details', { class: 'call quiet' }, h('summary', {}, h('span', { class: 'tool' }, part.type)), h('pre', { class: 'text' }, JSON.stringify(part, null, 2))),
        },
      ];
  }
}

/** What the model shows of its thinking. */
const thought = (text) => h('details', { class: 'call quiet' }, h('summary', {}, h('span', { class: 'tool' }, 'Thinking')), h('div', { class: 'text' }, paragraphs(text)));

/** A question of the agent and what a person answered, as the messages that they are. */
function answerItems({ callId, question, status, result }) {
  if (question === undefined || status !== 'completed') return [];
  return [
    { key: `asked-${callId}`, signature: question, render: () => h('div', { class: 'message assistant asked' }, paragraphs(question)) },
    { key: `answered-${callId}`, signature: result, render: () => h('div', { class: 'message user answered' }, paragraphs(result)) },
  ];
}

/** Pictures are named, not shown: loading one tells its server that somebody looks. */
const imageWords = ({ url, data, mimeType }) =>
  url === undefined ? `Image (${mimeType}, ${Math.ceil((data.length * 3) / 4096)} KB)` : `Image: ${url}`;

function textItem(role, text, key, about) {
  return {
    key,
    text,
    isOfPerson: role === 'user',
    signature: JSON.stringify([role, text, about.again !== undefined, about.asked, about.step]),
    render: () => (role === 'assistant' ? reply(text, about) : message(text, about)),
  };
}

/** A message of a person, which can be changed in a new thread. */
function message(text, { again, asked, step }) {
  const shown = h('div', { class: 'message user' }, paragraphs(text));
  if (again === undefined) return h('div', { class: 'said' }, shown, h('div', { class: 'tools' }, timeOf(step)));
  const edit = h('button', { type: 'button', class: 'quiet', onclick: () => showInstead(form, field) }, 'Edit in a new thread');
  const field = h('textarea', { rows: '3', 'aria-label': 'Changed message', value: text });
  const problem = problemLine();
  const send = h('button', { class: 'primary', type: 'submit' }, 'Continue in a new thread');
  const form = h(
    'form',
    {
      class: 'edited',
      onsubmit: (event) => {
        event.preventDefault();
        startThread(send, problem, () => again(asked.place, field.value));
      },
    },
    field,
    h('p', { class: 'muted' }, 'The new thread has the conversation as it was before this message arrived. This thread stays as it is.'),
    asked.ran.length === 0 ? null : h('p', {}, mayRunAgain(asked.ran)),
    problem,
    h('div', { class: 'row' }, send, h('button', { type: 'button', onclick: () => showInstead([shown, tools], edit) }, 'Back')),
  );
  const tools = h('div', { class: 'tools' }, edit, timeOf(step));
  const item = h('div', { class: 'said' }, shown, tools);
  const showInstead = (content, focused) => {
    replaceChildren(item, content);
    focused.focus();
  };
  return item;
}

/** A reply of the model: formatted, or as the model wrote it. Below the last one, its message can be answered again. */
function reply(text, { again, asked, step }) {
  const shown = h('div', { class: 'message assistant' });
  const raw = showSwitchable(shown, text);
  const { repeat, problem } = again ? repetition(again, asked) : {};
  return h('div', { class: 'reply' }, shown, h('div', { class: 'tools' }, copyButton(() => text), raw, repeat, timeOf(step), problem));
}

/** When a message was written. */
const timeOf = (step) => (step?.at === undefined ? null : h('time', { class: 'muted', datetime: step.at, title: exactTime(step.at) }, clock(step.at)));

/** A button that answers a message again in a new thread, and the place for the problem if that fails. */
function repetition(again, { place, text, ran }) {
  const problem = h('span', { class: 'problem', role: 'alert' });
  return { repeat: repeatButton(ran, ({ target }) => startThread(target, problem, () => again(place, text))), problem };
}

const mayRunAgain = (tools) => `${tools.join(', ')} ran for this message and may run again.`;

/** Starts again at once, or, if tools may have effects again, after a confirmation in its place. */
function repeatButton(ran, start) {
  const button = (words, onclick) => h('button', { type: 'button', class: 'quiet', onclick }, words);
  const words = 'Answer again in a new thread';
  if (ran.length === 0) return button(words, start);
  const place = h('span', {});
  const show = (content, focused) => {
    replaceChildren(place, content);
    focused.focus();
  };
  const warning = mayRunAgain(ran);
  const first = button(words, () => show(h('span', { role: 'group', 'aria-label': warning }, warning, confirm, button('Cancel', () => show(first, first))), confirm));
  const confirm = button('Answer again', start);
  place.append(first);
  return place;
}

function liveItem(live) {
  if (live === undefined) return [];
  // Folded once the text begins, as in the complete reply.
  const thinking = {
    key: 'live-thinking',
    signature: JSON.stringify([live.text === '', live.reasoning]),
    render: () => (live.text === '' ? h('div', { class: 'message assistant live muted' }, paragraphs(live.reasoning)) : thought(live.reasoning)),
  };
  const thoughts = live.reasoning === '' ? [] : [thinking];
  if (live.text === '') return thoughts;
  return [
    ...thoughts,
    {
      key: 'live',
      signature: live.text,
      render: (old) => {
        const element = old ?? h('div', { class: 'message assistant formatted live', 'aria-busy': 'true' });
        showMarkdown(element, (live.isCut ? '…' : '') + live.text);
        return element;
      },
    },
  ];
}

function queuedItems(view) {
  return view.queued.map((text, i) => ({
    key: `queued-${i}`,
    signature: text,
    render: () => h('div', { class: 'message user queued' }, paragraphs(text), h('p', { class: 'note' }, 'The model receives this at its next call.')),
  }));
}

/** What the reply had said when somebody stopped it. */
function stoppedItem({ stoppedHere }) {
  if (stoppedHere === undefined) return [];
  const render = () => h('div', { class: 'message assistant muted' }, paragraphs(stoppedHere), h('p', { class: 'note' }, 'Stopped here. The model does not read this.'));
  return [{ key: 'stopped-here', signature: stoppedHere, render }];
}

const ENDS = new Set(['failed', 'max-iterations', 'budget', 'stopped', 'cancelled']);

/** Why the last turn ended early, and a way to go on from before it. */
function endItem(view, { again, asked }) {
  if (!ENDS.has(view.status)) return [];
  const words = view.error ? `${view.error.type}: ${view.error.message}` : `The turn ended: ${statusWords(view.status)}.`;
  return [
    {
      key: 'end',
      signature: JSON.stringify([words, again !== undefined, asked]),
      render: () => {
        const { repeat, problem } = again ? repetition(again, asked) : {};
        return h('div', { class: `end ${view.status === 'failed' ? 'bad' : ''}`, role: 'status' }, h('bdi', {}, words), again ? h('div', { class: 'tools' }, repeat, problem) : null);
      },
    },
  ];
}
