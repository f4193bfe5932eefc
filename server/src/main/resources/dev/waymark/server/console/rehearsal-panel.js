// Rehearses a thread from a version on: the command for it, since the agents to try are files of whoever changes them.
import { copyButton } from './copy.js';
import { h, replaceChildren } from './dom.js';
import { commandLine, shellWord } from './format.js';

export class RehearsalPanel {
  #version;

  constructor(thread) {
    this.thread = thread;
    this.command = h('pre', { class: 'text', tabindex: '0' });
    this.element = h(
      'section',
      { class: 'rehearsal' },
      h('h3', {}, 'Rehearse from here'),
      h('p', { class: 'muted' }, 'Asks changed agents what they would reply now, at the reply that led to this version and at the later ones. This thread stays as it is, and no tool with side effects runs. Run this where the agent files are:'),
      this.command,
      copyButton(() => this.#line()),
    );
  }

  /** Offers to rehearse from this version on. */
  show(version) {
    this.#version = version;
    replaceChildren(this.command, this.#line());
  }

  #line() {
    const file = `${this.thread}-${this.#version}`.replaceAll(/[^A-Za-z0-9._-]/g, '-').replace(/^[.-]+/, '').slice(-100);
    return commandLine(`rehearse ${shellWord(this.thread)} --from ${this.#version} --html ${file}.html`);
  }
}
