// Rehearses a thread from a version on: the command for it, since the agents to try are files of whoever changes them,
// and the reports that such commands have written.
import { attempt, get, getText } from './api.js';
import { copyButton, saveFile } from './copy.js';
import { h, problemLine, replaceChildren } from './dom.js';
import { clock, shellWord } from './format.js';
import { session } from './session.js';

export class RehearsalPanel {
  #version;

  constructor(thread) {
    this.thread = thread;
    this.command = h('pre', { class: 'text', tabindex: '0' });
    this.list = h('ul', { class: 'reports' });
    this.place = h('p', { class: 'muted' });
    this.problem = problemLine();
    this.reports = h('details', { ontoggle: () => this.#showReports() }, h('summary', {}, 'Reports of rehearsals'), this.place, this.list, this.problem);
    this.element = h(
      'section',
      { class: 'rehearsal' },
      h('h3', {}, 'Rehearse from here'),
      h('p', { class: 'muted' }, 'Asks changed agents what they would decide now, at the decision that led to this version and at the later ones. This thread stays as it is, and no tool with side effects runs. Run this where the agent files are:'),
      this.command,
      copyButton(() => this.#line()),
      session.may('operate') ? this.reports : null,
    );
  }

  /** Offers to rehearse from this version on. */
  show(version) {
    this.#version = version;
    replaceChildren(this.command, this.#line());
  }

  #line() {
    const file = `${this.thread}-${this.#version}`.replaceAll(/[^A-Za-z0-9._-]/g, '-').replace(/^[.-]+/, '').slice(-100);
    return `./waymark rehearse ${shellWord(this.thread)} --from ${this.#version} --html ${file}.html`;
  }

  #showReports() {
    if (!this.reports.open) return;
    attempt(this.problem, async () => {
      const { reports, directory } = await get('/v1/rehearsals');
      this.place.textContent = directory ? `The newest pages in ${directory} on the server:` : 'The server shows no reports.';
      replaceChildren(this.list, reports.map((report) => this.#report(report)));
    });
  }

  /** A browser sends no token when it opens a page, so with one, the report is saved instead. */
  #report({ name, at }) {
    const path = `/v1/rehearsals/${encodeURIComponent(name)}`;
    const save = (event) => {
      if (!session.token) return;
      event.preventDefault();
      attempt(this.problem, async () => saveFile(name, await getText(path), 'text/html'));
    };
    return h('li', {}, h('a', { href: path, target: '_blank', rel: 'noreferrer', onclick: save }, name), h('span', { class: 'muted', title: at }, ` ${clock(at)}`));
  }
}
