// Requests to the HTTP API, /v1/openapi.json.
import { session } from './session.js';

const ATTEMPTS = 4;
const RETRIED = new Set([429, 502, 503, 504]);

/**
 * A failed request. `code` is the code of the problem document, or `Unreachable`. `messageId` is set if the message may
 * still arrive, as the `id` of an event.
 */
export class ApiProblem extends Error {
  constructor(status, { code, detail, remedy, messageId }) {
    super(detail);
    this.status = status;
    this.code = code;
    this.remedy = remedy;
    this.messageId = messageId;
  }

  /** The message and the remedy, as sentences for people. */
  get words() {
    return [this.message, this.remedy ?? REMEDIES[this.code] ?? ''].map(sentence).join(' ').trim();
  }
}

/** What to do about problems for which the API states no remedy. */
const REMEDIES = {
  Unreachable: 'Check that it runs, and that this machine reaches it.',
  NotFound: 'Check the address, or choose a thread from the list.',
  RoleRequired: 'Ask your administrator for a token with this role.',
  TooManyRequests: 'Wait a moment, then try again.',
  Internal: 'The server’s log says more. Try again.',
};

const sentence = (text) => (text === '' ? '' : `${text[0].toUpperCase()}${text.slice(1)}${/[.!?:…]$/.test(text) ? '' : '.'}`);

/** What to tell people about a failure. */
export const wordsOf = (failure) => failure.words ?? sentence(failure.message ?? String(failure));

/** What to do as soon as the server answers again. */
const onAnswer = new Set();

function answered() {
  const all = [...onAnswer];
  onAnswer.clear();
  all.forEach((run) => run());
}

/** Runs this as soon as the server answers, if the failure is that it cannot be reached. */
export function untilReached(failure, run) {
  if (failure?.code === 'Unreachable') onAnswer.add(run);
}

/** Shows a failure in an element; that the server cannot be reached, only until it answers. */
export function showProblem(element, failure) {
  const words = wordsOf(failure);
  element.textContent = words;
  untilReached(failure, () => {
    if (element.textContent === words) element.textContent = '';
  });
}

/** Runs something, and shows in an element why it failed. */
export async function attempt(element, run) {
  try {
    await run();
    element.textContent = '';
  } catch (failure) {
    showProblem(element, failure);
  }
}

const unreachable = () => new ApiProblem(0, { code: 'Unreachable', detail: 'The server cannot be reached' });

export const threadPath = (thread) => `/v1/threads/${encodeURIComponent(thread)}`;

function headers(more = {}) {
  return session.token ? { ...more, Authorization: `Bearer ${session.token}` } : more;
}

async function problemOf(response) {
  try {
    return new ApiProblem(response.status, await response.json());
  } catch {
    return new ApiProblem(response.status, { code: 'Unknown', detail: `The server answered with ${response.status}` });
  }
}

const pause = (millis) => new Promise((resolve) => setTimeout(resolve, millis));

/** Requests are safe to repeat: reads change nothing, and each command has an idempotency key. */
async function send(path, options) {
  let problem = unreachable();
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (attempt > 0) await pause(300 * 2 ** attempt);
    let response;
    try {
      response = await fetch(path, { cache: 'no-store', credentials: 'omit', ...options });
    } catch (failure) {
      if (failure.name === 'AbortError') throw failure;
      continue;
    }
    answered();
    if (response.ok) return response;
    problem = await problemOf(response);
    if (!RETRIED.has(response.status) || problem.code === 'NoWorker') break;
  }
  throw problem;
}

export async function get(path, { signal } = {}) {
  return (await send(path, { headers: headers(), signal })).json();
}

/** The text of an answer, whose numbers must not be rounded. */
export async function getText(path) {
  return (await send(path, { headers: headers() })).text();
}

/**
 * Sends a command.
 *
 * @param body an object, or JSON text that is sent as it is
 */
export async function post(path, body, key = newKey()) {
  const response = await send(path, {
    method: 'POST',
    headers: headers({ 'Content-Type': 'application/json', 'Idempotency-Key': key }),
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return response.json();
}

/** Opens a stream. Does not retry: the caller connects again, with the id of the last event. */
export async function openStream(path, lastEventId, signal) {
  const response = await reached(path, {
    headers: headers({ Accept: 'text/event-stream', ...(lastEventId ? { 'Last-Event-ID': lastEventId } : {}) }),
    cache: 'no-store',
    credentials: 'omit',
    signal,
  });
  if (!response.ok) throw await problemOf(response);
  return response.body;
}

/** A failure to reach the server is a problem with words for people. */
async function reached(path, options) {
  try {
    const response = await fetch(path, options);
    answered();
    return response;
  } catch (failure) {
    throw failure.name === 'AbortError' ? failure : unreachable();
  }
}

/** A new idempotency key. */
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Sends commands from one place of the page: a command that is sent again unchanged, after a failure, takes effect once. */
export function sender() {
  let sent;
  return (path, text) => {
    if (sent?.path !== path || sent.text !== text) sent = { path, text, key: newKey() };
    return post(path, text, sent.key);
  };
}
