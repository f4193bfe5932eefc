// What the agent keeps beside the conversation: its to-dos, its plan, and its files.
import { get, threadPath, wordsOf } from './api.js';
import { changesBlock, showChanges } from './changes.js';
import { copyButton, saveFile } from './copy.js';
import { h, replaceChildren, showList } from './dom.js';
import { clock, number } from './format.js';
import { showSwitchable } from './markdown.js';
import { step } from './steps.js';

/** Whether a thread has anything to show here. */
export const hasWorkspace = ({ workspace }) => workspace !== undefined;

export class WorkspacePanel {
  #view;
  #path;
  #shown = '';

  /** @param page the page with its `thread` */
  constructor(page) {
    this.page = page;
    this.lists = h('div', {});
    this.files = h('ul', { class: 'files' });
    this.file = h('section', { class: 'file' });
    this.none = h('p', { class: 'muted' }, 'This thread has no files.');
    this.element = h('div', {}, this.lists, h('section', {}, h('h3', {}, 'Files'), this.none, this.files), this.file);
  }

  /** Shows the workspace of a state of the thread. */
  show(view) {
    if (view === this.#view) return;
    this.#view = view;
    this.#render();
  }

  #render() {
    const { todos = [], plan, files = [] } = this.#view.workspace ?? {};
    this.#path ??= files[0]?.path;
    replaceChildren(
      this.lists,
      todos.length === 0 ? null : h('section', {}, h('h3', {}, 'To-dos'), h('ul', { class: 'steps' }, todos.map(({ content, status }) => step(content, status)))),
      plan === undefined
        ? null
        : h('section', {}, h('h3', {}, 'Plan'), h('p', { dir: 'auto' }, plan.goal), h('ol', { class: 'steps' }, plan.steps.map(({ description, status }) => step(description, status)))),
    );
    this.none.hidden = files.length > 0;
    showList(
      this.files,
      files.map((file) => ({
        key: file.path,
        signature: JSON.stringify([file, file.path === this.#path]),
        render: () =>
          h(
            'li',
            {},
            h('button', { 'aria-pressed': String(file.path === this.#path), onclick: () => this.#open(file.path) }, h('bdi', {}, file.path)),
            h('span', { class: 'muted' }, `${number(file.length)} characters, ${clock(file.modifiedAt)}`),
          ),
      })),
    );
    this.#showFile(files.find(({ path }) => path === this.#path) ?? files[0]);
  }

  #open(path) {
    this.#path = path;
    this.#render();
  }

  /** Reads the file, if another one is shown, or it has changed. */
  async #showFile(file) {
    const version = this.#view.version;
    const signature = file === undefined ? '' : JSON.stringify([file, this.#view.current ? 'now' : version]);
    if (signature === this.#shown) return;
    this.#shown = signature;
    if (file === undefined) {
      replaceChildren(this.file);
      return;
    }
    try {
      const [{ content }, { versions }] = await Promise.all([this.#read(file.path, this.#view.position), get(`${threadPath(this.page.thread)}/versions`)]);
      if (this.#shown === signature) this.#fill(file, content, versions.filter((each) => each.version < version));
    } catch (problem) {
      if (this.#shown === signature) replaceChildren(this.file, h('p', { class: 'problem', role: 'alert' }, wordsOf(problem)));
    }
  }

  #read(path, at) {
    return get(`${threadPath(this.page.thread)}/files/${encodeURIComponent(path)}?at=${encodeURIComponent(at)}`);
  }

  #fill({ path }, content, earlier) {
    const body = h('div', { class: 'file-content', tabindex: '0', role: 'region', 'aria-label': `Content of ${path}` });
    const changes = changesBlock(`Changes of ${path}`);
    changes.hidden = true;
    const raw = path.endsWith('.md') ? showSwitchable(body, content) : null;
    if (raw === null) replaceChildren(body, h('pre', { class: 'text' }, content));
    const compared = h(
      'select',
      {
        'aria-label': 'Changes since',
        onchange: async () => {
          const isCompared = compared.value !== '';
          body.hidden = isCompared;
          changes.hidden = !isCompared;
          if (!isCompared) return;
          try {
            showChanges(changes, lines(await this.#before(path, compared.value)), lines(content));
          } catch (problem) {
            replaceChildren(changes, h('p', { class: 'problem', role: 'alert' }, wordsOf(problem)));
          }
        },
      },
      h('option', { value: '' }, 'Content'),
      earlier.toReversed().map(({ version, at }) => h('option', { value: String(version) }, `Changes since version ${version}, ${clock(at)}`)),
    );
    replaceChildren(
      this.file,
      h('h3', {}, h('bdi', {}, path)),
      h('div', { class: 'row' }, copyButton(() => content), h('button', { class: 'quiet', onclick: () => saveFile(path, content) }, 'Download'), raw),
      earlier.length === 0 ? null : compared,
      body,
      changes,
    );
  }

  /** The content of a file at an earlier version; empty if there was no such file. */
  async #before(path, version) {
    try {
      return (await this.#read(path, version)).content;
    } catch (problem) {
      if (problem.status === 404) return '';
      throw problem;
    }
  }
}

const lines = (text) => (text === '' ? [] : text.split('\n'));
