// A tool call in a conversation: the tool, its arguments, and its outcome.
import { callLink, threadLink } from './address.js';
import { changesBlock, showChanges } from './changes.js';
import { copyButton } from './copy.js';
import { facts, h } from './dom.js';
import { between, callWords, clock, dollars } from './format.js';
import { indented, jsonBlock } from './json-text.js';
import { excerpt } from './safe-text.js';

const LONG_RESULT = 1_500;
const TONES = { completed: 'good', failed: 'bad', denied: 'bad', lost: 'warn', cancelled: 'quiet' };
const ENDED = new Set(['completed', 'failed', 'lost']);
const PHASE_TONES = { awaiting: 'warn', asking: 'warn', unsettled: 'warn', unknown: 'warn', doubted: 'warn' };

export const callTone = (call) => PHASE_TONES[call.phase] ?? TONES[call.status] ?? 'busy';

/** The person who decided: a name that the server has verified, or one that somebody stated. */
export function decider({ by, verified }) {
  if (verified) return `${verified.subject} (verified)`;
  return by ? `${by} (not verified)` : 'somebody';
}

/**
 * @param call a row of the call log
 * @param old the element that shows an earlier state of the call
 */
export function callCard(call, old) {
  return h(
    'details',
    { class: `call ${callTone(call)}`, open: old?.open ?? false, 'data-call': call.callId },
    h(
      'summary',
      {},
      h('span', { class: 'tool' }, call.tool),
      h('bdi', { class: 'gist' }, gist(call)),
      call.startedAt && ENDED.has(call.status) ? h('span', { class: 'took muted' }, between(call.startedAt, call.since)) : null,
      h('span', { class: `chip ${callTone(call)}` }, callWords(call)),
    ),
    h('div', { class: 'call-body' }, args(call), outcome(call), about(call)),
  );
}

/** The arguments, as the changes that somebody made when they approved the call. */
function args(call) {
  const label = `Arguments of ${call.tool}`;
  if (call.proposedText === undefined) return [h('h4', {}, 'Arguments'), jsonBlock(call.argsText, label)];
  const changes = changesBlock(label);
  showChanges(changes, indented(call.proposedText).split('\n'), indented(call.argsText).split('\n'));
  return [h('h4', {}, 'Arguments, as changed at the approval'), changes];
}

function gist(call) {
  if (call.subagent && typeof call.args?.task === 'string') return excerpt(call.args.task, 90);
  if (call.question) return excerpt(call.question, 90);
  if (typeof call.args?.question === 'string') return excerpt(call.args.question, 90);
  return call.argsText === '{}' ? '' : excerpt(call.argsText.replace(/^\{|\}$/g, ''), 90);
}

function outcome(call) {
  const parts = [];
  if (call.subagent) {
    parts.push(
      h('p', {}, h('a', { href: threadLink(call.subagent.thread) }, `Open the thread of ${call.subagent.agent}`)),
    );
  }
  if (call.result !== undefined) {
    parts.push(h('h4', {}, call.isError ? 'Error' : 'Result'), longText(call.result, call.isError));
  }
  return parts;
}

/** Text with a button for the rest, if it is long. */
export function longText(text, isError = false) {
  const block = h('pre', { class: isError ? 'text error' : 'text', dir: 'auto', tabindex: '0' });
  if (text.length <= LONG_RESULT * 1.5) {
    block.append(...h('span', {}, text).childNodes);
    return block;
  }
  block.append(...h('span', {}, `${text.slice(0, LONG_RESULT)}…`).childNodes);
  const button = h(
    'button',
    {
      class: 'quiet',
      onclick: () => {
        block.replaceChildren(...h('span', {}, text).childNodes);
        button.remove();
      },
    },
    `Show all ${text.length.toLocaleString('en-US')} characters`,
  );
  return [block, button];
}

function about(call) {
  const { approval, settled, verdict, grant } = call;
  return [
    facts([
      approval && [
        `${approval.approved ? 'Approved' : 'Denied'}${approval.edited ? ' with changes' : ''}`,
        [decider(approval), `, ${clock(approval.at)}`, because(approval.reason)],
      ],
      verdict && ['Rules', [verdict.then, because(verdict.reason)]],
      grant && ['Approved', `by grant ${grant}`],
      settled && ['Settled', `${settled.outcome}, by ${decider(settled)}, ${clock(settled.at)}`],
      ['Note', settled?.note && h('bdi', {}, settled.note)],
      ['Seen', call.evidence && h('bdi', {}, call.evidence)],
      ['Started', call.claimedAt && clock(call.claimedAt)],
      ['Last change', clock(call.since)],
      ['Dispatched', call.dispatches > 1 && `${call.dispatches} times`],
      ['Cost', call.subagent?.costUsd !== undefined && dollars(call.subagent.costUsd)],
    ]),
    h(
      'details',
      { class: 'identifiers' },
      h('summary', {}, 'Identifiers'),
      copyButton(() => callLink(call.callId), 'Copy a link to this call'),
      facts([
        ['Idempotency key', call.key && h('code', {}, call.key)],
        ['Call', h('code', {}, call.callId)],
      ]),
    ),
  ];
}

const because = (reason) => (reason ? [': ', h('bdi', {}, reason)] : null);
