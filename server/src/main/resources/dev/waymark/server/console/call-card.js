// A tool call in a conversation: the tool, its arguments, and its outcome.
import { callLink, threadLink } from './address.js';
import { changesBlock, showChanges } from './changes.js';
import { copyButton } from './copy.js';
import { facts, h, replaceChildren } from './dom.js';
import { between, callWords, clock, dollars, number } from './format.js';
import { indented, inLine, jsonBlock } from './json-text.js';
import { excerpt } from './safe-text.js';
import { step } from './steps.js';

const LONG_RESULT = 1_500;
const TONES = { completed: 'good', failed: 'bad', denied: 'bad', lost: 'warn', cancelled: 'quiet' };
const ENDED = new Set(['completed', 'failed', 'lost']);
const PHASE_TONES = { awaiting: 'warn', asking: 'warn', unsettled: 'warn', unknown: 'warn', doubted: 'warn' };

const callTone = (call) => PHASE_TONES[call.phase] ?? TONES[call.status] ?? 'busy';

/** The person who decided: a name that the server has verified, or one that somebody stated. */
export function decider({ by, verified }) {
  if (verified) return `${verified.subject} (verified)`;
  return by ? `${by} (not verified)` : 'somebody (no name given)';
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
      h('bdi', { class: call.isError ? 'gist error' : 'gist' }, gist(call)),
      call.approval?.edited || call.subagent?.changed ? h('span', { class: 'took muted' }, 'arguments changed') : null,
      call.startedAt && ENDED.has(call.status) ? h('span', { class: 'took muted' }, between(call.startedAt, call.since)) : null,
      h('span', { class: `chip ${callTone(call)}` }, callWords(call)),
    ),
    h('div', { class: 'call-body' }, args(call), outcome(call), about(call)),
  );
}

/** The arguments, as the changes that somebody made when they approved the call, or as what the call does. */
function args(call) {
  const label = `Arguments of ${call.tool}`;
  if (call.proposedText === undefined) {
    const told = WORK.get(call.tool)?.(call.args ?? {});
    if (told === undefined) return [h('h4', {}, 'Arguments'), jsonBlock(call.argsText, label)];
    return [told, h('details', { class: 'identifiers' }, h('summary', {}, 'Arguments'), jsonBlock(call.argsText, label))];
  }
  const changes = changesBlock(label);
  showChanges(changes, indented(call.proposedText).split('\n'), indented(call.argsText).split('\n'));
  return [h('h4', {}, 'Arguments, as changed at the approval'), changes];
}

/** What calls of the tools for to-dos and files do; undefined if their arguments have another form. */
const WORK = new Map([
  ['write_todos', ({ todos }) => (areSteps(todos) ? h('ul', { class: 'steps' }, todos.map(({ content, status }) => step(content, status))) : undefined)],
  ['write_file', ({ path, content }) => (areTexts(path, content) ? fileChanges(path, '', content) : undefined)],
  ['edit_file', ({ path, old, new: after }) => (areTexts(path, old, after) ? fileChanges(path, old, after) : undefined)],
]);

const areSteps = (list) => Array.isArray(list) && list.every((one) => areTexts(one?.content, one?.status));
const areTexts = (...values) => values.every((value) => typeof value === 'string');

function fileChanges(path, before, after) {
  const changes = changesBlock(`Changes of ${path}`);
  showChanges(changes, before === '' ? [] : before.split('\n'), after.split('\n'));
  return [h('h4', {}, h('bdi', {}, path)), changes];
}

/** In a line, what a call does, or else the first line of its error. */
function gist(call) {
  if (call.isError && call.result) return excerpt(call.result.trim().split('\n')[0], 160);
  if (call.subagent && typeof call.args?.task === 'string') return excerpt(call.args.task, 90);
  if (call.question) return excerpt(call.question, 90);
  if (typeof call.args?.question === 'string') return excerpt(call.args.question, 90);
  if (WORK.has(call.tool) && typeof call.args?.path === 'string') return excerpt(call.args.path, 90);
  if (call.tool === 'write_todos' && Array.isArray(call.args?.todos)) return `${call.args.todos.length} to-dos`;
  return excerpt(inLine(call.argsText), 90);
}

function outcome(call) {
  const parts = [];
  if (call.subagent) {
    parts.push(
      h('p', {}, h('a', { href: threadLink(call.subagent.thread) }, `Open the thread of ${call.subagent.agent}`)),
      ...(call.subagent.changed ?? []).map((id) => h('p', {}, h('a', { href: linkBelow(call.subagent.thread, id) }, `Open the call whose arguments were changed (${id})`))),
    );
  }
  if (call.result !== undefined) {
    const label = `${call.isError ? 'Error' : 'Result'}${call.wholeResult === undefined ? '' : ', of which the model was shown the beginning and the end'}`;
    parts.push(h('h4', {}, label), longText(call.wholeResult ?? call.result, call.isError));
  }
  return parts;
}

/** A call of a thread, or of one below it: `tu_2/tu_1`. */
function linkBelow(thread, id) {
  const path = id.split('/');
  const call = path.pop();
  return threadLink([thread, ...path].join('/'), { call });
}

/** Text with a button for the rest, if it is long. */
function longText(text, isError = false) {
  const show = (shown) => replaceChildren(block, shown);
  const block = h('pre', { class: isError ? 'text error' : 'text', dir: 'auto', tabindex: '0' });
  if (text.length <= LONG_RESULT * 1.5) {
    show(text);
    return block;
  }
  show(`${text.slice(0, LONG_RESULT)}…`);
  const showAll = () => {
    show(text);
    button.remove();
  };
  const button = h('button', { class: 'quiet', onclick: showAll }, `Show all ${number(text.length)} characters`);
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
