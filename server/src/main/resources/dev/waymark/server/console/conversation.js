// The messages of a thread.
import { callCard } from './call-card.js';
import { copyButton } from './copy.js';
import { h, showList } from './dom.js';
import { statusWords } from './format.js';
import { paragraphs, showMarkdown, showSwitchable } from './markdown.js';

/** The newest items are shown at once, and earlier ones whenever the browser has time, so that no thread is too long. */
const AT_ONCE = 40;
const PART = 25;

/** Shows states of a thread, as `/conversation` returns them. */
export class Conversation {
  #items = { view: undefined, list: [] };
  #most = AT_ONCE;
  #waiting = false;
  #last;

  /** @param element the element that contains the messages */
  constructor(element) {
    this.element = element;
  }

  show(view, live) {
    this.#last = [view, live];
    // Words of a reply arrive often, and change no other item.
    if (this.#items.view !== view) this.#items = { view, list: itemsOf(view) };
    const items = this.#items.list;
    const first = Math.max(0, items.length - this.#most);
    showList(this.element, [...items.slice(first), ...liveItem(live), ...queuedItems(view), ...endItem(view)]);
    if (first > 0) this.#growLater();
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

const whenIdle = (run) => (window.requestIdleCallback ? requestIdleCallback(run, { timeout: 500 }) : setTimeout(run, 30));

function itemsOf(view) {
  const calls = new Map(view.calls.map((call) => [call.callId, call]));
  return view.messages.flatMap(({ role, content }, i) =>
    typeof content === 'string' ? [textItem(role, content, `m${i}`)] : content.flatMap((part, k) => partItem(role, part, `m${i}.${k}`, calls)),
  );
}

function partItem(role, part, key, calls) {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [textItem(role, part.text, key)];
    case 'tool_use': {
      const call = calls.get(part.id) ?? {
        callId: part.id,
        tool: part.name,
        args: part.input,
        argsText: JSON.stringify(part.input),
        status: 'issued',
      };
      return [{ key: `call-${part.id}`, signature: JSON.stringify(call), render: (old) => callCard(call, old) }];
    }
    case 'tool_result':
      return []; // The result is shown with its call.
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

function textItem(role, text, key) {
  return { key, signature: `${role} ${text}`, render: () => (role === 'assistant' ? reply(text) : h('div', { class: `message ${role}` }, paragraphs(text))) };
}

/** A reply of the model: formatted, or as the model wrote it. */
function reply(text) {
  const message = h('div', { class: 'message assistant' });
  const raw = showSwitchable(message, text);
  return h('div', { class: 'reply' }, message, h('div', { class: 'tools' }, copyButton(() => text), raw));
}

function liveItem(live) {
  if (live === undefined || live.text === '') return [];
  return [
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

const ENDS = new Set(['failed', 'max-iterations', 'budget', 'stopped', 'cancelled']);

function endItem(view) {
  if (!ENDS.has(view.status)) return [];
  const words = view.error ? `${view.error.type}: ${view.error.message}` : `The turn ended: ${statusWords(view.status)}.`;
  return [
    {
      key: 'end',
      signature: words,
      render: () => h('div', { class: `end ${view.status === 'failed' ? 'bad' : ''}`, role: 'status' }, h('bdi', {}, words)),
    },
  ];
}
