// Where a new thread can begin, before each message of a thread. A fork has its first messages from the thread that it
// copied, and those begin there.
import { get, threadPath } from './api.js';
import { excerpt } from './safe-text.js';

/** The text of a message. */
export const textOf = (content) => (typeof content === 'string' ? content : content.filter(({ type }) => type === 'text').map((part) => part.text).join('\n\n'));

/** Whether a message is of a person, and not of tools. */
export const isOfPerson = ({ role, content }) => role === 'user' && (typeof content === 'string' || content.some(({ type }) => type !== 'tool_result'));

/** The title of a thread: the beginning of its first message; none before it has one. */
export function titleOf(messages) {
  const first = messages.find((message) => isOfPerson(message) && textOf(message.content).trim() !== '');
  return first && excerpt(textOf(first.content), 100);
}

/** A message, as forks copy it. */
const keyOf = (view, i) => JSON.stringify([view.course?.[i]?.at, view.messages[i]]);

/**
 * The place before each message, `{ thread, at }`; none before replies, and before messages that came together.
 *
 * @param origin what the thread has from the one that it copied, if that is known
 */
export function placesBefore(view, origin) {
  let start = origin?.start;
  return view.messages.map((message, i) => {
    if (origin?.places.has(keyOf(view, i))) return origin.places.get(keyOf(view, i));
    if (!isOfPerson(message)) return undefined;
    const at = view.course?.[i]?.before;
    const begun = start;
    start = undefined;
    return at === undefined ? begun : { thread: view.thread, at };
  });
}

/**
 * Reads what a fork has from the thread that it copied: the places before its messages, the one where it began, and the
 * title of the other thread.
 */
export async function originOf({ thread, version, at }) {
  const place = at ?? String(version);
  const [{ forkedFrom }, view] = await Promise.all([get(threadPath(thread)), get(`${threadPath(thread)}/conversation?${new URLSearchParams({ at: place })}`)]);
  const places = placesBefore(view, forkedFrom && (await originOf(forkedFrom)));
  return {
    places: new Map(places.map((place, i) => [keyOf(view, i), place])),
    start: { thread, at: place },
    // A fork from the start has no message of the other thread.
    title: titleOf(view.messages) ?? titleOf((await get(`${threadPath(thread)}/conversation`)).messages),
  };
}
