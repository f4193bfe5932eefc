// To-dos and the steps of a plan.
import { h } from './dom.js';

const MARKS = { pending: '○', in_progress: '◐', blocked: '!', completed: '✓', done: '✓', cancelled: '–' };

export const step = (words, status) =>
  h('li', { dir: 'auto', class: status }, h('span', { role: 'img', class: 'mark', 'aria-label': status.replace('_', ' ') }, MARKS[status] ?? '·'), ' ', words);
