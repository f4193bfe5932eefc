// Shows JSON text without parsing its values: parsers of browsers round large numbers.
import { h } from './dom.js';

const TOKEN = /("(?:[^"\\]|\\.)*")|([{}[\],:])|([^\s{}[\],:"]+)/g;

/** The tokens of JSON text, with line breaks and indentation: `[{ kind, text }]`. */
export function layout(json) {
  const tokens = [...json.matchAll(TOKEN)].map((match) => ({
    text: match[0],
    kind: match[1] ? 'string' : match[2] ? 'mark' : 'literal',
  }));
  const out = [];
  let depth = 0;
  const line = () => out.push({ kind: 'space', text: `\n${'  '.repeat(depth)}` });
  tokens.forEach((token, i) => {
    const next = tokens[i + 1]?.text;
    if (token.kind === 'string' && next === ':') {
      out.push({ kind: 'key', text: token.text });
    } else if (token.text === '{' || token.text === '[') {
      out.push(token);
      if (next !== '}' && next !== ']') {
        depth++;
        line();
      }
    } else if (token.text === '}' || token.text === ']') {
      const opener = tokens[i - 1]?.text;
      if (opener !== '{' && opener !== '[') {
        depth--;
        line();
      }
      out.push(token);
    } else {
      out.push(token);
      if (token.text === ',') line();
      if (token.text === ':') out.push({ kind: 'space', text: ' ' });
    }
  });
  return out;
}

/** JSON text on several lines. */
export const indented = (json) => layout(json).map((token) => token.text).join('');

/** The members of a JSON object by their names, with the exact text of each name and value: `{ key, value }`. */
export function members(json) {
  const found = new Map();
  let depth = 0;
  let member;
  for (const [text] of json.matchAll(TOKEN)) {
    if (text === '}' || text === ']') depth--;
    if (depth === 1 && text === ',') {
      member = undefined;
    } else if (depth === 1 && member === undefined) {
      member = { key: text, value: undefined };
      found.set(JSON.parse(text), member);
    } else if (depth === 1 && member.value === undefined) {
      member.value = ''; // The colon.
    } else if (depth > 0) {
      member.value += text;
    }
    if (text === '{' || text === '[') depth++;
  }
  return found;
}

/** The members of a JSON object in a line, without the quotes around texts: `order: A-17 · usd: 80`. */
export const inLine = (json) =>
  [...members(json)].map(([name, { value }]) => `${name}: ${unquoted(value)}`).join(' · ');

/** The text of a JSON value. */
export const unquoted = (value) => (value.startsWith('"') ? JSON.parse(value) : value);

/** JSON text as an element. Each string is isolated, so that right-to-left letters cannot move the text around them. */
export function jsonBlock(json, label) {
  return h(
    'pre',
    { class: 'json', tabindex: '0', 'aria-label': label },
    layout(json).map((token) =>
      token.kind === 'space' || token.kind === 'mark' ? token.text : h('bdi', { class: token.kind }, token.text),
    ),
  );
}

/** Why a text is not a JSON object; empty if it is one. */
export function objectProblem(text, what) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? '' : `${what} must be a JSON object.`;
  } catch (failure) {
    return `This is not JSON: ${failure.message}`;
  }
}
