// Makes text from others safe to show, like the Java class SafeText; a test compares the two. Characters that are
// invisible, reorder their surroundings or control a terminal appear as escapes such as \u202e. Emoji sequences and the
// joiners of Arabic and Indic scripts are kept.

const VISIBLE_FORMAT = /[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]/u;
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Cf}]/u;
const INVISIBLE = new RegExp(
  '[\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u2065\\u2800\\u3164\\ufe00-\\ufe0f\\uffa0\\ufff0-\\ufff8' +
    '\\u{e0000}-\\u{e0fff}]',
  'u',
);
const JOINING = new RegExp(
  '[' +
    [
      'Arabic', 'Syriac', 'Nko', 'Mongolian', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil',
      'Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Myanmar', 'Khmer',
    ].map((script) => `\\p{Script=${script}}`).join('') +
    ']',
  'u',
);
const PICTOGRAPH = /[\u{1f000}-\u{1faff}]|(?=[\u00a9-\u{10ffff}])\p{So}|(?=[\u2000-\u3300])[\p{Sm}\p{Po}]/u;
const KEYCAP = /[0-9#*]/;
/** Text without any of these characters is safe. Most text has none. */
const SUSPECT = new RegExp(`${UNSAFE.source}|${INVISIBLE.source}`, 'u');
const PLAIN = /^[\n\t\x20-\x7e]*$/;

const isUnsafe = (c) => (UNSAFE.test(c) && !VISIBLE_FORMAT.test(c)) || INVISIBLE.test(c);

const belongsBetween = (previous, c, next) => {
  switch (c) {
    case '\ufe0e':
    case '\ufe0f':
      return PICTOGRAPH.test(previous) || KEYCAP.test(previous);
    case '\u200d':
      return (
        (PICTOGRAPH.test(next) && (PICTOGRAPH.test(previous) || previous === '\ufe0f')) ||
        (JOINING.test(previous) && JOINING.test(next))
      );
    case '\u200c':
      return JOINING.test(previous) && JOINING.test(next);
    default:
      return false;
  }
};

const escaped = (c) =>
  Array.from({ length: c.length }, (_, i) => `\\u${c.charCodeAt(i).toString(16).padStart(4, '0')}`).join('');

/** The text with its line breaks and tabs; all other invisible characters are escaped. */
export function safeLines(text) {
  if (PLAIN.test(text)) return text;
  const unix = text.replaceAll('\r\n', '\n');
  if (!SUSPECT.test(unix)) return unix;
  const characters = Array.from(unix);
  return characters
    .map((c, i) =>
      c === '\n' || c === '\t' || !isUnsafe(c) || belongsBetween(characters[i - 1] ?? '', c, characters[i + 1] ?? '')
        ? c
        : escaped(c),
    )
    .join('');
}

/** The text on one line. */
export const safeLine = (text) => safeLines(text.replace(/[\s\x1c-\x1f\x85]+/gu, ' ').trim());

/** The beginning of a text, on one line. */
export function excerpt(text, most) {
  const line = safeLine(text.slice(0, 4 * most));
  return line.length <= most ? line : `${Array.from(line).slice(0, most).join('')}…`;
}
