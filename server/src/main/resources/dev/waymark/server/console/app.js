// Starts the console: signs in, and shows the page that the address names.
import { currentAddress, goToThread } from './address.js';
import { AlikePage } from './alike-page.js';
import { wordsOf } from './api.js';
import { h, replaceChildren } from './dom.js';
import { Keyboard, opensNext } from './keyboard.js';
import { SchedulesPage } from './schedules-page.js';
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
        this.waitingCount = count;
        this.#showTitle();
      },
      onFirst: () => {
        if (this.page === undefined) this.route();
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
      const thread = this.list.neighbor(step);
      if (thread !== undefined) goToThread(thread);
    };
    const onPage = (run) => () => this.page instanceof ThreadPage && run(this.page);
    return new Keyboard([
      { key: 'j', words: 'Next thread', run: () => go(1) },
      { key: 'k', words: 'Previous thread', run: () => go(-1) },
      { key: '/', words: 'Search the list', run: () => this.list.search.focus() },
      { key: '1', words: 'All threads', run: () => this.list.filter(0) },
      { key: '2', words: 'Threads that wait for you', run: () => this.list.filter(1) },
      { key: '3', words: 'Open threads', run: () => this.list.filter(2) },
      { key: '4', words: 'Failed threads', run: () => this.list.filter(3) },
      ...(session.may('talk') ? [{ key: 'n', words: 'New thread', run: () => (location.hash = '#/new') }] : []),
      { key: 'w', words: 'Next request that waits for you, here or in another thread', run: () => this.#nextRequest() },
      { key: 'a', words: 'Approve the request that has the focus', run: onPage((page) => page.decideByKey('approve')) },
      { key: 'x', words: 'Deny it, with a reason', run: onPage((page) => page.decideByKey('deny')) },
      { key: 'm', words: 'Write a message', run: onPage((page) => page.focusComposer()) },
      { key: 't', words: 'Timeline', run: onPage((page) => page.showPanel('timeline')) },
      { key: 'F', words: 'Find in this thread, and its outline', run: onPage((page) => page.find()) },
      { key: 'd', words: 'Details', run: onPage((page) => page.showPanel('details')) },
      { key: 'f', words: 'To-dos, plan and files', run: onPage((page) => page.showPanel('workspace')) },
      { key: 'ArrowLeft', words: 'Earlier version, in the timeline', run: onPage((page) => page.stepVersion(-1)) },
      { key: 'ArrowRight', words: 'Later version, in the timeline', run: onPage((page) => page.stepVersion(1)) },
      { key: 'Escape', words: 'Stay in the thread after a decision; close the panel, or the thread; what you have begun to write stays', run: () => this.#leave() },
    ]);
  }

  /** Goes to the next request of the thread that is shown, and after its last one to that of another thread. */
  #nextRequest() {
    if (this.page instanceof ThreadPage && this.page.focusNextDecision()) return;
    const next = this.list.nextAwaited;
    if (next !== undefined) this.#goToRequest(next.thread);
    else if (this.page instanceof ThreadPage) this.page.focusDecision();
  }

  /** Opens a thread for a decision: its first request gets the focus. */
  #goToRequest(thread) {
    this.takesFocus = true;
    goToThread(thread);
  }

  /**
   * Called when nothing more waits for the user in a thread where a decision was made. Names the next thread that does,
   * and opens it a moment later.
   *
   * @param named the thread that was named before
   */
  #decided(named) {
    const next = opensNext() ? this.list.nextAwaited : undefined;
    if (next !== undefined && next.thread === named) this.#goToRequest(named);
    else this.page.tellNext(next, () => this.#decided(next.thread));
  }

  /** The title of the tab: how many threads wait for the user, and the thread that is shown. */
  #showTitle() {
    const count = this.waitingCount > 0 ? `(${this.waitingCount}) ` : '';
    const title = this.page?.title ? `${this.page.title} · ` : '';
    document.title = `${count}${title}Waymark`;
  }

  #leave() {
    if (this.page instanceof ThreadPage && this.page.stay()) return;
    if (this.page instanceof ThreadPage && this.page.panel !== '') this.page.showPanel('');
    else if (this.page?.draft) this.page.draft.focus();
    else location.hash = '#/';
  }

  route() {
    const { kind, id, version, call, panel: wanted } = currentAddress();
    if (kind === 'thread' && this.page instanceof ThreadPage && this.page.thread === id) {
      this.page.go({ panel: wanted, version, call });
      return;
    }
    const kept = this.page instanceof ThreadPage && !matchMedia('(max-width: 1100px)').matches ? this.page.panel : '';
    const hasFocus = this.takesFocus || (this.page !== undefined && !this.list.element.contains(document.activeElement));
    this.takesFocus = false;
    this.page?.close();
    this.page = undefined;
    this.element.classList.toggle('has-page', kind !== undefined);
    const pages = {
      new: () => session.may('talk') && new StartPage(),
      schedules: () => session.may('operate') && new SchedulesPage(),
      alike: () => id !== undefined && new AlikePage(id, this.list),
    };
    const page = pages[kind]?.();
    if (page) {
      this.page = page;
      this.list.select('');
      replaceChildren(this.main, this.page.element);
      this.page.shown();
    } else if (kind === 'thread' && id !== undefined) {
      this.page = new ThreadPage(id, {
        panel: wanted ?? kept,
        version,
        call,
        list: this.list,
        onDecided: () => this.#decided(),
        onChange: (view) => {
          this.list.changed(view);
          this.#showTitle();
        },
      });
      this.list.select(id);
      replaceChildren(this.main, this.page.element);
      if (hasFocus) this.page.shown();
    } else {
      this.list.select('');
      replaceChildren(this.main, this.list.isEmpty ? this.#firstRun() : this.#welcome());
    }
    this.#showTitle();
  }

  /** For a server that has no thread yet. */
  #firstRun() {
    if (!session.may('talk')) return h('div', { class: 'empty' }, h('p', {}, 'There are no threads yet. Those that you may see will be in the list.'));
    return h(
      'div',
      { class: 'empty' },
      h('h1', {}, 'Start the first thread'),
      h(
        'ol',
        { class: 'first-steps' },
        h('li', {}, 'Write what an agent should do, and choose the agent.'),
        h('li', {}, 'Watch it work. It waits here when it needs an approval or an answer, for months if need be.'),
        h('li', {}, 'Go back to any step in the timeline, and continue from there in a new thread.'),
      ),
      h('a', { class: 'button primary', href: '#/new' }, 'New thread'),
    );
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
    const { subject } = session.caller;
    if (subject === undefined && !session.may('operate')) return null;
    const signOut = () => {
      session.forget();
      location.reload();
    };
    return h(
      'div',
      { class: 'caller' },
      session.may('operate') ? h('a', { href: '#/schedules' }, 'Schedules') : null,
      subject === undefined ? null : [h('bdi', {}, subject), h('button', { class: 'quiet', onclick: signOut }, 'Sign out')],
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
      replaceChildren(root, h('main', { class: 'centered' }, h('p', { class: 'problem', role: 'alert' }, wordsOf(problem))));
      await new Promise((resolve) => setTimeout(resolve, 3_000));
    }
  }
  const console = new Console();
  replaceChildren(root, console.element);
  console.route();
}

start();
