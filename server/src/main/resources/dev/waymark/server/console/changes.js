// Shows the differences between two texts, line by line.
import { h, replaceChildren } from './dom.js';
import { condensed, diff } from './line-diff.js';

const MARKS = { same: ' ', added: '+', removed: '−' };

/** Shows the differences between two lists of lines in an element. Returns whether there are any. */
export function showChanges(parent, before, after) {
  const changes = condensed(diff(before, after));
  const isSame = changes.every(({ kind }) => kind === 'gap');
  replaceChildren(parent, isSame ? h('p', { class: 'muted' }, 'Nothing that is shown changed.') : changes.map(changeLine));
  return !isSame;
}

/** An element for differences. */
export const changesBlock = (label) => h('div', { class: 'changes', tabindex: '0', role: 'region', 'aria-label': label });

function changeLine({ kind, text, count }) {
  if (kind === 'gap') return h('div', { class: 'gap' }, count === 1 ? '1 unchanged line' : `${count} unchanged lines`);
  return h(
    'div',
    { class: `line ${kind}` },
    h('span', { class: 'mark', 'aria-label': kind === 'same' ? undefined : kind, role: kind === 'same' ? undefined : 'img' }, MARKS[kind]),
    h('bdi', {}, text),
  );
}
