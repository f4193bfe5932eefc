// Times, amounts and names for people.
import { session } from './session.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const isToday = (instant) => new Date(instant).toDateString() === new Date().toDateString();

/** `now`, `5 min`, `3 h`, or a date. */
export function ago(instant) {
  const millis = Date.now() - Date.parse(instant);
  if (millis < MINUTE) return 'now';
  if (millis < HOUR) return `${Math.floor(millis / MINUTE)} min`;
  if (millis < DAY) return `${Math.floor(millis / HOUR)} h`;
  return new Date(instant).toLocaleDateString(undefined, { day: 'numeric', month: 'short' });
}

/** A time of today, or a time with its date and zone. */
export function clock(instant) {
  const time = new Date(instant);
  return isToday(instant)
    ? time.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
    : time.toLocaleString(undefined, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', timeZoneName: 'short' });
}

/** A time with all that there is to say, for whoever points at a shorter one. */
export const exactTime = (instant) => new Date(instant).toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' });

/** An argument as a shell takes it. */
export const shellWord = (text) => (/^[\w@%+=:,./-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** A command for a shell, which finds the Temporal server and namespace of this console. */
export function commandLine(words) {
  const { address, namespace } = session.caller.temporal;
  const namespaceSetting = namespace === 'default' ? '' : `TEMPORAL_NAMESPACE=${shellWord(namespace)} `;
  return `${namespaceSetting}./waymark ${words}${address === undefined || address === '127.0.0.1:7233' ? '' : ` --address ${shellWord(address)}`}`;
}

/** The time between two instants. */
export const between = (from, to) => duration(Date.parse(to) - Date.parse(from));

/** `< 0.1 s`, `0.4 s`, `12 s`, `5 min`, `3 h` or `2 days`. */
export function duration(millis) {
  if (millis < 100) return '< 0.1 s';
  if (millis < 10_000) return `${(millis / 1_000).toFixed(1)} s`;
  if (millis < 2 * MINUTE) return `${Math.round(millis / 1_000)} s`;
  if (millis < 2 * HOUR) return `${Math.round(millis / MINUTE)} min`;
  if (millis < 2 * DAY) return `${Math.round(millis / HOUR)} h`;
  return `${Math.round(millis / DAY)} days`;
}

/** What model calls took: `12 s, 1,024 tokens, $0.02`. */
export const spentWords = (time, { usage, costUsd }) =>
  [time, `${number(tokens(usage))} tokens`, costUsd === undefined ? '' : dollars(costUsd)].filter((part) => part !== '').join(', ');

export const number = (value) => value.toLocaleString('en-US');

/** An amount of dollars, precise enough for small ones. */
export function dollars(amount) {
  if (amount === null || amount === undefined) return 'unknown';
  if (amount === 0) return '$0';
  return `$${amount >= 1 ? amount.toFixed(2) : amount.toPrecision(2).replace(/(\.\d*?)0+$/, '$1')}`;
}

/** What a thread has cost itself, and what those had cost whose conversation it began with. */
export function costWords({ costUsd, inherited }) {
  const before = inherited?.costUsd ?? 0;
  // Differences of floating-point numbers are not exact.
  return before === 0 ? dollars(costUsd) : `${dollars(Number((costUsd - before).toFixed(9)))}, and ${dollars(before)} before this thread`;
}

export const tokens = (usage) => usage.inputTokens + usage.outputTokens;

/** A thread id that fits into a line. */
export const shortId = (thread) => (thread.length <= 18 ? thread : `${thread.slice(0, 8)}…${thread.slice(-6)}`);

const STATUS = {
  none: 'no turn yet',
  running: 'running',
  interrupted: 'waiting for a person',
  complete: 'complete',
  cut: 'reply not whole',
  failed: 'failed',
  'max-iterations': 'iteration limit reached',
  budget: 'budget spent',
  stopped: 'stopped',
  cancelled: 'cancelled',
};

export const statusWords = (status) => STATUS[status] ?? status;

/** The status of a thread, or of an earlier version, for the person who reads it. */
export const threadWords = ({ status, pending, current }) => {
  if (!current) return `then ${statusWords(status)}`;
  return status === 'interrupted' && session.isAwaited(pending) ? 'waiting for you' : statusWords(status);
};

const CALL = { issued: 'waiting', claimed: 'running', completed: 'done', failed: 'error', lost: 'outcome unknown' };
const CALL_PHASE = {
  awaiting: 'needs approval',
  asking: 'asks',
  unsettled: 'outcome unknown',
  dispatched: 'running',
  delegated: 'running',
  remote: 'at its server',
  following: 'at its server',
  verifying: 'checking the outcome',
  unknown: 'outcome unknown',
  doubted: 'outcome unknown',
};

export const callWords = (call) => CALL_PHASE[call.phase] ?? CALL[call.status] ?? call.status;
