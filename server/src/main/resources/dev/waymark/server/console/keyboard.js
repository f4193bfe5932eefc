// Keyboard shortcuts. Single keys can be switched off, for users of speech input.
import { h } from './dom.js';

const SETTING = 'waymark.shortcuts';

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
    shortcut.run();
  }

  help() {
    const dialog = h(
      'dialog',
      { class: 'panel-card', 'aria-labelledby': 'shortcuts-title', onclose: () => dialog.remove() },
      h('h2', { id: 'shortcuts-title' }, 'Keyboard shortcuts'),
      h(
        'dl',
        { class: 'shortcuts' },
        this.#shortcuts.map(({ key, words }) => [h('dt', {}, h('kbd', {}, NAMES[key] ?? key)), h('dd', {}, words)]),
        h('dt', {}, h('kbd', {}, 'Enter')),
        h('dd', {}, 'Send a message or an answer (Shift+Enter: new line)'),
      ),
      h(
        'label',
        { class: 'row' },
        h('input', {
          type: 'checkbox',
          checked: localStorage.getItem(SETTING) !== 'off',
          onchange: (event) => localStorage.setItem(SETTING, event.target.checked ? 'on' : 'off'),
        }),
        'Use single-key shortcuts',
      ),
      h('button', { class: 'primary', onclick: () => dialog.close() }, 'Close'),
    );
    document.body.append(dialog);
    dialog.showModal();
  }
}

const NAMES = { Escape: 'Esc', ArrowLeft: '←', ArrowRight: '→' };
