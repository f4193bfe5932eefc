// Builds the page. Text becomes text nodes, never markup, and passes through safeLines here, so no view can forget to
// make it safe.
import { safeLine, safeLines } from './safe-text.js';

const SAFE_ATTRIBUTES = new Set(['title', 'placeholder', 'aria-label', 'alt']);

/** Creates an element: `h('button', { class: 'primary', onclick: send }, 'Send')`. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) {
      element.addEventListener(name.slice(2), value);
    } else if (name === 'value' || name === 'checked' || name === 'disabled') {
      element[name] = value;
    } else {
      element.setAttribute(name, value === true ? '' : SAFE_ATTRIBUTES.has(name) ? safeLine(String(value)) : value);
    }
  }
  element.append(...nodes(children));
  return element;
}

function nodes(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== undefined && child !== null && child !== false)
    .map((child) => (child instanceof Node ? child : document.createTextNode(safeLines(String(child)))));
}

export function replaceChildren(parent, ...children) {
  parent.replaceChildren(...nodes(children));
}

const shown = new WeakMap();

/**
 * Shows a list of items `{ key, signature, render }`. An item whose signature has not changed keeps its element, with
 * everything that the user typed or opened in it.
 */
export function showList(parent, items) {
  const before = shown.get(parent) ?? new Map();
  const now = new Map();
  const keys = new Set(items.map((item) => item.key));
  // Elements are removed first, so that no remaining element has to move: moving an element takes the focus from it.
  for (const [key, { element }] of before) {
    if (!keys.has(key)) element.remove();
  }
  let place = parent.firstChild;
  for (const item of items) {
    const old = before.get(item.key);
    const element = old && old.signature === item.signature ? old.element : item.render(old?.element);
    now.set(item.key, { signature: item.signature, element });
    if (old && old.element !== element) {
      if (place === old.element) place = place.nextSibling;
      old.element.remove();
    }
    if (element === place) {
      place = place.nextSibling;
    } else {
      parent.insertBefore(element, place);
    }
  }
  shown.set(parent, now);
}

/** Announces a visible change to users of screen readers. */
export function announce(words) {
  const region = document.getElementById('announcements');
  if (region && region.textContent !== words) region.textContent = safeLine(words);
}

/** Names and values; those without a value are left out. */
export function facts(rows) {
  return h('dl', { class: 'facts' }, rows.filter((row) => row?.[1]).map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
}

/** The way back to the list, where the list is not beside the page. */
export const backLink = () => h('a', { class: 'back', href: '#/', 'aria-label': 'Back to the list' }, '‹');

/** The place for what went wrong. */
export const problemLine = () => h('p', { class: 'problem', role: 'alert' });

/** Sends a form at the press of Enter in this field; Shift+Enter begins a new line. */
export function sendAtEnter(field) {
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    field.form.requestSubmit();
  });
}
