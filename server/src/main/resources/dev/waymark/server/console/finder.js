// Finds words in a thread, and lists its messages of people, to go to one of them.
import { h, replaceChildren } from './dom.js';
import { excerpt } from './safe-text.js';

export class Finder {
  #found = [];
  #at = -1;

  /** @param conversation the conversation, with its `texts` and `goTo(key)` */
  constructor(conversation) {
    this.conversation = conversation;
    this.field = h('input', {
      type: 'search',
      'aria-label': 'Find in this thread',
      placeholder: 'Find in this thread',
      oninput: () => this.#find(),
      onkeydown: (event) => {
        if (event.key === 'Escape') this.close();
        else if (event.key !== 'Enter') return;
        event.preventDefault();
        event.stopPropagation();
        if (event.key === 'Enter') this.#step(event.shiftKey ? -1 : 1);
      },
    });
    this.count = h('span', { class: 'muted', role: 'status' });
    this.outline = h('ol', { class: 'outline' });
    this.element = h(
      'search',
      { class: 'finder', hidden: true },
      h(
        'div',
        { class: 'row' },
        this.field,
        this.count,
        h('button', { class: 'quiet', 'aria-label': 'Earlier match', onclick: () => this.#step(-1) }, '‹'),
        h('button', { class: 'quiet', 'aria-label': 'Later match', onclick: () => this.#step(1) }, '›'),
        h('button', { class: 'quiet', 'aria-label': 'Close the search', onclick: () => this.close() }, '✕'),
      ),
      h('nav', { 'aria-label': 'Messages of people' }, this.outline),
    );
  }

  open() {
    this.element.hidden = false;
    replaceChildren(
      this.outline,
      this.conversation.texts
        .filter(({ isOfPerson }) => isOfPerson)
        .map(({ key, text }) => h('li', {}, h('button', { class: 'quiet', onclick: () => this.conversation.goTo(key) }, excerpt(text, 80)))),
    );
    this.field.focus();
    this.field.select();
  }

  close() {
    this.element.hidden = true;
    this.conversation.element.focus({ preventScroll: true });
  }

  #find() {
    const words = this.field.value.trim().toLowerCase();
    this.#found = words === '' ? [] : this.conversation.texts.filter(({ text }) => text.toLowerCase().includes(words));
    this.#at = -1;
    this.count.textContent = words === '' ? '' : this.#found.length === 1 ? '1 place' : `${this.#found.length} places`;
  }

  /** Goes to the next place; at first to the newest one. */
  #step(by) {
    const all = this.#found.length;
    if (all === 0) return;
    this.#at = this.#at < 0 ? all - 1 : (this.#at + by + all) % all;
    this.count.textContent = `${this.#at + 1} of ${all}`;
    this.conversation.goTo(this.#found[this.#at].key);
  }
}
