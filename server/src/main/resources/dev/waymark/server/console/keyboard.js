// Keyboard shortcuts. Single keys can be switched off, for users of speech input.
import { h } from './dom.js';

const SETTING = 'waymark.shortcuts';
const OPENS_NEXT = 'waymark.opens-next';

/** Whether the next thread that waits for the user is opened after a decision. */
export const opensNext = () => localStorage.getItem(OPENS_NEXT) !== 'off';

export class Keyboard {
  #shortcuts;

  /** @param shortcuts `[{ key, words, run }]` */
  constructor(shortcuts) {
    this.#shortcuts = [...shortcuts, { key: '?', words: 'Show this list', run: () => this.help() }];
    addEventListener('keydown', (event) => this.#pressed(event));
  }

  #pressed(event) {
    const isTyping = event.target.closest?.('input:not([type=range]):not([type=radio]), textarea, select, dialog');
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (localStorage.getItem(SETTING) === 'off' && event.key !== 'Escape' && event.key !== '?') return;
    const shortcut = this.#shortcuts.find(({ key }) => key === event.key);
    if (shortcut === undefined) return;
    event.preventDefault();
    // A key that is held down steps through a list, but decides once.
    if (!event.repeat || STEPS.has(event.key)) shortcut.run();
  }

  help() {
    const dialog = h(
      'dialog',
      { class: 'panel-card', 'aria-labelledby': 'shortcuts-title', onclose: () => dialog.remove() },
      h('h2', { id: 'shortcuts-title', tabindex: '-1', autofocus: true }, 'Keyboard shortcuts'),
      h(
        'dl',
        { class: 'shortcuts' },
        this.#shortcuts.map(({ key, words }) => [h('dt', {}, h('kbd', {}, NAMES[key] ?? key)), h('dd', {}, words)]),
        h('dt', {}, h('kbd', {}, 'Enter')),
        h('dd', {}, 'Write an answer; send it, or a message (Shift+Enter: new line; Ctrl+Enter: start a new thread)'),
      ),
      setting(SETTING, 'Use single-key shortcuts'),
      setting(OPENS_NEXT, 'Open the next thread that waits for you after a decision'),
      h('button', { class: 'primary', onclick: () => dialog.close() }, 'Close'),
    );
    document.body.append(dialog);
    dialog.showModal();
  }
}

const setting = (name, words) =>
  h(
    'label',
    { class: 'row' },
    h('input', {
      type: 'checkbox',
      checked: localStorage.getItem(name) !== 'off',
      onchange: (event) => localStorage.setItem(name, event.target.checked ? 'on' : 'off'),
    }),
    words,
  );

const STEPS = new Set(['j', 'k', 'ArrowLeft', 'ArrowRight']);

const NAMES = { Escape: 'Esc', ArrowLeft: '←', ArrowRight: '→' };
