// Starts the console: signs in, and shows the page that the address names.
import { h, replaceChildren } from './dom.js';
import { Keyboard } from './keyboard.js';
import { session } from './session.js';
import { isSignedIn, signInForm } from './sign-in.js';
import { StartPage } from './start-page.js';
import { ThreadList } from './thread-list.js';
import { ThreadPage } from './thread-page.js';

const root = h('div', { id: 'root' });
const announcements = h('div', { id: 'announcements', class: 'unseen', 'aria-live': 'polite' });
document.body.append(root, announcements);

class Console {
  constructor() {
    this.list = new ThreadList({
      onWaiting: (count) => {
        document.title = count > 0 ? `(${count}) Waymark` : 'Waymark';
      },
    });
    this.main = h('main', { id: 'main' });
    this.element = h(
      'div',
      { class: 'layout' },
      h('aside', { class: 'sidebar' }, this.#brand(), this.list.element, this.#caller()),
      this.main,
    );
    this.keyboard = this.#shortcuts();
    addEventListener('hashchange', () => this.route());
  }

  #shortcuts() {
    const go = (step) => {
      const thread = this.list.neighbour(step);
      if (thread !== undefined) location.hash = `#/thread/${encodeURIComponent(thread)}`;
    };
    const onPage = (run) => () => this.page instanceof ThreadPage && run(this.page);
    return new Keyboard([
      { key: 'j', words: 'Next thread', run: () => go(1) },
      { key: 'k', words: 'Previous thread', run: () => go(-1) },
      { key: '/', words: 'Search the list', run: () => this.list.search.focus() },
      { key: '1', words: 'All threads', run: () => this.list.filter(0) },
      { key: '2', words: 'Threads that wait for you', run: () => this.list.filter(1) },
      { key: '3', words: 'Open threads', run: () => this.list.filter(2) },
      ...(session.may('talk') ? [{ key: 'n', words: 'New thread', run: () => (location.hash = '#/new') }] : []),
      { key: 'w', words: 'Go to what waits for you in this thread', run: onPage((page) => page.focusDecision()) },
      { key: 'm', words: 'Write a message', run: onPage((page) => page.focusComposer()) },
      { key: 't', words: 'Timeline', run: onPage((page) => page.showPanel('timeline')) },
      { key: 'd', words: 'Details', run: onPage((page) => page.showPanel('details')) },
      { key: 'ArrowLeft', words: 'Earlier version, in the timeline', run: onPage((page) => page.stepVersion(-1)) },
      { key: 'ArrowRight', words: 'Later version, in the timeline', run: onPage((page) => page.stepVersion(1)) },
      { key: 'Escape', words: 'Close the panel, or the thread', run: () => this.#leave() },
    ]);
  }

  #leave() {
    if (this.page instanceof ThreadPage && this.page.panel !== '') this.page.showPanel('');
    else location.hash = '#/';
  }

  route() {
    const [, kind, id] = location.hash.match(/^#\/(thread|new)(?:\/([^/]+))?$/) ?? [];
    const panel = this.page instanceof ThreadPage && !matchMedia('(max-width: 1100px)').matches ? this.page.panel : '';
    this.page?.close();
    this.page = undefined;
    this.element.classList.toggle('has-page', kind !== undefined);
    if (kind === 'new' && session.may('talk')) {
      this.page = new StartPage();
      this.list.select('');
      replaceChildren(this.main, this.page.element);
    } else if (kind === 'thread' && id !== undefined) {
      const thread = decodeURIComponent(id);
      this.page = new ThreadPage(thread, { panel, onChange: (view) => this.list.changed(view) });
      this.list.select(thread);
      replaceChildren(this.main, this.page.element);
    } else {
      this.list.select('');
      replaceChildren(this.main, this.#welcome());
    }
  }

  #welcome() {
    return h(
      'div',
      { class: 'empty' },
      h('p', {}, session.may('talk') ? 'Choose a thread, or start one.' : 'Choose a thread.'),
      session.may('talk') ? h('a', { class: 'button primary', href: '#/new' }, 'New thread') : null,
      h('p', { class: 'muted' }, 'Press ', h('kbd', {}, '?'), ' for keyboard shortcuts.'),
    );
  }

  #brand() {
    return h(
      'div',
      { class: 'brand' },
      h('img', { src: '/console/icon.svg', alt: '', width: '24', height: '24' }),
      h('span', {}, 'Waymark'),
      session.may('talk') ? h('a', { class: 'button', href: '#/new' }, 'New thread') : null,
    );
  }

  #caller() {
    if (session.caller.subject === undefined) return null;
    return h(
      'div',
      { class: 'caller' },
      h('bdi', {}, session.caller.subject),
      h(
        'button',
        {
          class: 'quiet',
          onclick: () => {
            session.forget();
            location.reload();
          },
        },
        'Sign out',
      ),
    );
  }
}

async function start() {
  let signedIn = false;
  while (!signedIn) {
    try {
      signedIn = await isSignedIn();
      if (!signedIn) {
        await signInForm(root);
        signedIn = true;
      }
    } catch (problem) {
      replaceChildren(root, h('main', { class: 'centered' }, h('p', { class: 'problem', role: 'alert' }, problem.words ?? String(problem))));
      await new Promise((resolve) => setTimeout(resolve, 3_000));
    }
  }
  const console = new Console();
  replaceChildren(root, console.element);
  console.route();
}

start();
