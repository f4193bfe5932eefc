// The messages of a thread.
import { callCard } from './call-card.js';
import { h, showList } from './dom.js';
import { statusWords } from './format.js';

/** Shows a state of a thread, as `/conversation` returns it. */
export function showConversation(parent, view, live) {
  const calls = new Map(view.calls.map((call) => [call.callId, call]));
  showList(parent, [
    ...view.messages.flatMap((message, i) => messageItems(message, i, calls)),
    ...liveItem(live),
    ...view.queued.map((text, i) => ({
      key: `queued-${i}`,
      signature: text,
      render: () => h('div', { class: 'message user queued' }, prose(text), h('p', { class: 'note' }, 'The model receives this at its next call.')),
    })),
    ...endItem(view),
  ]);
}

function messageItems({ role, content }, i, calls) {
  if (typeof content === 'string') return [textItem(role, content, `m${i}`)];
  return content.flatMap((part, k) => partItem(role, part, `m${i}.${k}`, calls));
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
  return { key, signature: `${role} ${text}`, render: () => h('div', { class: `message ${role}` }, prose(text)) };
}

/** Paragraphs of plain text. Each has its own text direction, and cannot change the direction of others. */
export function prose(text) {
  return text
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => h('p', { dir: 'auto' }, paragraph));
}

function liveItem(live) {
  if (live === undefined || live.text === '') return [];
  return [
    {
      key: 'live',
      signature: live.text,
      render: (old) => {
        const element = old ?? h('div', { class: 'message assistant live', 'aria-busy': 'true' });
        element.replaceChildren(...prose((live.isCut ? '…' : '') + live.text));
        return element;
      },
    },
  ];
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
