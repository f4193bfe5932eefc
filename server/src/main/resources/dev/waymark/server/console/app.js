// Starts the console: signs in, and shows the page that the address names.
import { h, replaceChildren } from './dom.js';
import { session } from './session.js';
import { isSignedIn, signInForm } from './sign-in.js';
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
    addEventListener('hashchange', () => this.route());
  }

  route() {
    const [, kind, id] = location.hash.match(/^#\/(thread)\/([^/]+)$/) ?? [];
    this.page?.close();
    this.page = undefined;
    this.element.classList.toggle('has-page', kind !== undefined);
    if (kind === 'thread') {
      const thread = decodeURIComponent(id);
      this.page = new ThreadPage(thread, { onChange: () => {} });
      this.list.select(thread);
      replaceChildren(this.main, this.page.element);
    } else {
      this.list.select('');
      replaceChildren(this.main, h('div', { class: 'empty' }, h('p', {}, 'Choose a thread.')));
    }
  }

  #brand() {
    return h('div', { class: 'brand' }, h('img', { src: '/console/icon.svg', alt: '', width: '24', height: '24' }), h('span', {}, 'Waymark'));
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
