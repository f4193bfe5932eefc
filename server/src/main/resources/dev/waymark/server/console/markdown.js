// Shows the Markdown of a model's reply. The parser supplies tokens, and elements and text nodes are made from them
// here: its HTML is never used. Whatever is not formatted is shown as it was written, so nothing is hidden.
import { copyButton } from './copy.js';
import { h, showList } from './dom.js';
import { Lexer } from './marked.js';
import { excerpt } from './safe-text.js';

/** Longer texts are shown as they were written, because parsing them could take seconds. */
const MOST_CHARACTERS = 100_000;
/** Longer paragraphs are not searched for emphasis and links: the time for that grows with the square of their length. */
const LONGEST_PARAGRAPH = 3_000;
/** Deeper parts of a text are shown as they were written. */
const MOST_DEPTH = 12;
const LONGEST_PATH = 60;

/**
 * Shows Markdown in an element. A block that is the same as before keeps its element, so a reply that grows is not built
 * again with each word.
 */
export function showMarkdown(parent, text) {
  showList(
    parent,
    tokensOf(text).map((token, i) => ({ key: String(i), signature: `${token.type} ${token.raw}`, render: () => block(token) })),
  );
}

/** Shows Markdown in an element, and returns a button that switches to the text as it was written, and back. */
export function showSwitchable(element, text) {
  const isRaw = () => button.getAttribute('aria-pressed') === 'true';
  const show = (raw) => {
    button.setAttribute('aria-pressed', String(raw));
    element.classList.toggle('formatted', !raw);
    element.replaceChildren();
    if (raw) element.append(...paragraphs(text));
    else showMarkdown(element, text);
  };
  const button = h('button', { type: 'button', class: 'quiet', onclick: () => show(!isRaw()) }, 'Raw');
  show(false);
  return button;
}

/** Paragraphs of plain text. Each has its own text direction, and cannot change the direction of others. */
export function paragraphs(text) {
  return text
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => h('p', { dir: 'auto' }, paragraph));
}

function tokensOf(text) {
  if (text.length > MOST_CHARACTERS) return [asRaw(text)];
  return new BoundedLexer().lex(text).filter((token) => token.type !== 'space');
}

const asRaw = (text) => ({ type: 'raw', raw: text, text });

/** A lexer whose time and depth hostile text cannot exhaust. */
class BoundedLexer extends Lexer {
  #depth = 0;

  blockTokens(text, tokens = [], isClipped = false) {
    return this.#bounded(text, tokens, () => super.blockTokens(text, tokens, isClipped));
  }

  inlineTokens(text, tokens = []) {
    if (text.length <= LONGEST_PARAGRAPH) return this.#bounded(text, tokens, () => super.inlineTokens(text, tokens));
    tokens.push(asRaw(text));
    return tokens;
  }

  #bounded(text, tokens, parse) {
    if (this.#depth > MOST_DEPTH) {
      tokens.push(asRaw(text));
      return tokens;
    }
    this.#depth++;
    try {
      return parse();
    } finally {
      this.#depth--;
    }
  }
}

const blocks = (tokens) => tokens.filter((token) => token.type !== 'space').map(block);

function block(token) {
  switch (token.type) {
    case 'heading':
      // Below the headings of the page.
      return h(`h${Math.min(6, token.depth + 2)}`, { dir: 'auto' }, inline(token.tokens));
    case 'paragraph':
    case 'text':
      return h('p', { dir: 'auto' }, inline(token.tokens ?? [token]));
    case 'code':
      return codeBlock(token);
    case 'blockquote':
      return h('blockquote', {}, blocks(token.tokens));
    case 'list':
      return list(token);
    case 'table':
      return table(token);
    case 'hr':
      return h('hr');
    default:
      return asWritten(token);
  }
}

const asWritten = (token) => h('p', { dir: 'auto' }, token.raw.trimEnd());

function list(token) {
  const items = token.items.map((item) =>
    h(
      'li',
      { dir: 'auto' },
      item.task ? checkbox(item.checked) : null,
      item.tokens
        .filter(({ type }) => type !== 'space' && type !== 'checkbox')
        .map((part) => (part.type === 'text' ? inline(part.tokens ?? [part]) : block(part))),
    ),
  );
  return token.ordered ? h('ol', { start: token.start === 1 ? undefined : String(token.start) }, items) : h('ul', {}, items);
}

const checkbox = (checked) => h('span', { role: 'img', 'aria-label': checked ? 'done' : 'not done' }, checked ? '☑ ' : '☐ ');

function table({ header, rows }) {
  const row = (cells, tag) =>
    h('tr', {}, cells.map((cell) => h(tag, { dir: 'auto', class: cell.align ?? undefined }, inline(cell.tokens))));
  return h(
    'div',
    { class: 'table', tabindex: '0', role: 'region', 'aria-label': 'Table' },
    h('table', {}, h('thead', {}, row(header, 'th')), h('tbody', {}, rows.map((cells) => row(cells, 'td')))),
  );
}

function codeBlock({ text, lang }) {
  const language = lang ? excerpt(lang, 30) : 'code';
  return h(
    'div',
    { class: 'code' },
    h('div', { class: 'code-head' }, h('bdi', {}, language), copyButton(() => text)),
    h('pre', { class: 'text', tabindex: '0', 'aria-label': `Code: ${language}` }, h('code', {}, text)),
  );
}

const inline = (tokens) => tokens.map(inlinePart);

function inlinePart(token) {
  switch (token.type) {
    case 'strong':
    case 'em':
    case 'del':
      return h(token.type, {}, inline(token.tokens));
    case 'codespan':
      return h('code', {}, token.text);
    case 'br':
      return h('br');
    case 'escape':
      return token.raw.slice(1);
    case 'link':
      return link(token, inline(token.tokens));
    case 'image':
      // Pictures are not loaded: the request would tell another server what the model put into the address.
      return link(token, ['picture: ', token.text]);
    case 'text':
      return token.tokens ? inline(token.tokens) : token.raw;
    default:
      return token.raw;
  }
}

/** A link names its target, so that its words cannot promise another one. */
function link(token, words) {
  const url = webAddress(token.href);
  if (url === undefined) return token.raw;
  const target = { 'https:': url.host, 'http:': url.origin, 'mailto:': 'mailto:' }[url.protocol];
  const path = `${url.pathname}${url.search}${url.hash}`;
  return h(
    'a',
    { href: url.href, target: '_blank', rel: 'noopener noreferrer', title: url.href },
    h('bdi', {}, words),
    webAddress(token.text)?.href === url.href ? null : h('bdi', { class: 'target' }, ` (${target}${path === '/' ? '' : excerpt(path, LONGEST_PATH)})`),
  );
}

/** The address of a link that leads out of the console. A name and a password in it could look like its host. */
function webAddress(text) {
  try {
    const url = new URL(text);
    return ['https:', 'http:', 'mailto:'].includes(url.protocol) && url.username === '' && url.password === '' ? url : undefined;
  } catch {
    return undefined;
  }
}
