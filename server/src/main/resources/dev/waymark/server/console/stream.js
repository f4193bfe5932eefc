// Streams the events of a thread, or the list of threads, as they change.
import { ApiProblem, openStream } from './api.js';

const SHORTEST_PAUSE = 300;
const LONGEST_PAUSE = 8_000;
/** The server sends a comment every 15 s, so a longer silence means that the connection is dead. */
const LONGEST_SILENCE = 40_000;

/** Splits a stream of server-sent events: `feed(text)` returns the complete events. */
export class EventParser {
  #rest = '';
  #event = {};

  feed(text) {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop();
    const events = [];
    for (const line of lines) {
      if (line === '') {
        if (this.#event.data !== undefined) events.push({ name: 'message', ...this.#event });
        this.#event = {};
      } else if (!line.startsWith(':')) {
        this.#field(line);
      }
    }
    return events;
  }

  #field(line) {
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') this.#event.data = this.#event.data === undefined ? value : `${this.#event.data}\n${value}`;
    if (name === 'event') this.#event.name = value;
    if (name === 'id') this.#event.id = value;
  }
}

/**
 * Follows a stream from a position, and reconnects when the connection breaks, without missing an event.
 *
 * @param path of the stream
 * @param position the id of the last event that is known, if events have ids
 * @param listener `event(name, document)`, `connected(whether, problem)`, `refused(problem)`
 * @returns a function that stops following
 */
export function follow(path, position, listener) {
  const ending = new AbortController();
  run(path, position, listener, ending.signal);
  return () => ending.abort();
}

async function run(path, position, listener, signal) {
  let last = position;
  let wait = SHORTEST_PAUSE;
  while (!signal.aborted) {
    let problem;
    try {
      await connect(path, last, signal, (event) => {
        wait = SHORTEST_PAUSE;
        if (event === undefined) {
          listener.connected(true);
          return true;
        }
        last = event.id ?? last;
        listener.event(event.name, JSON.parse(event.data));
        return event.name !== 'closed';
      });
    } catch (failure) {
      if (signal.aborted || failure === CLOSED) return;
      if (failure instanceof ApiProblem && [400, 401, 403, 404].includes(failure.status)) {
        listener.refused(failure);
        return;
      }
      problem = failure;
    }
    if (signal.aborted) return;
    listener.connected(false, problem);
    await new Promise((resolve) => setTimeout(resolve, wait * (0.75 + Math.random() / 2)));
    wait = Math.min(LONGEST_PAUSE, wait * 2);
  }
}

const CLOSED = new Error('the thread has closed');

async function connect(path, last, signal, received) {
  const connection = new AbortController();
  const abort = () => connection.abort();
  signal.addEventListener('abort', abort);
  let silence = setTimeout(abort, LONGEST_SILENCE);
  try {
    const body = await openStream(path, last, connection.signal);
    received(undefined);
    const parser = new EventParser();
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      clearTimeout(silence);
      silence = setTimeout(abort, LONGEST_SILENCE);
      for (const event of parser.feed(part.value)) {
        if (!received(event)) throw CLOSED;
      }
    }
  } finally {
    clearTimeout(silence);
    signal.removeEventListener('abort', abort);
    connection.abort();
  }
}
