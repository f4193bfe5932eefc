// Details of a thread: its cost and limits, its subagents, and the commands that end it.
import { threadLink } from './address.js';
import { attempt, get, getText, post, sender, threadPath } from './api.js';
import { decider } from './call-card.js';
import { copyButton, saveFile } from './copy.js';
import { facts, h, problemLine, replaceChildren } from './dom.js';
import { clock, dollars, exactTime, number, shortId, statusWords, threadWords, tokens } from './format.js';
import { session } from './session.js';

const FORMATS = ['runner', 'thread', 'session', 'messages', 'phases', 'versions'];
/** A part of some tokens, in brackets. */
const parts = (count, what) => (count ? ` (${number(count)} ${what})` : '');

/** Subagents of subagents are read up to this depth. */
const DEPTH = 5;

export class Details {
  #shown = '';
  #mayEnd = false;

  /** @param page `thread`, `refresh()`, and `command(name)` */
  constructor(page) {
    this.page = page;
    this.facts = h('div', {});
    this.grants = h('section', { hidden: true });
    this.tree = h('div', {});
    this.limits = session.may('operate') ? this.#limitForm() : null;
    this.ends = h('div', {});
    this.element = h('div', { class: 'details' }, this.facts, this.grants, this.limits, this.tree, this.#checkpoints(), this.ends);
  }

  /** @param origin the id of the thread that this one is a fork of, if it is one */
  show(view, origin) {
    const signature = JSON.stringify([view.position, view.open, view.current, origin]);
    if (signature === this.#shown) return;
    this.#shown = signature;
    this.position = view.position;
    replaceChildren(this.facts, this.#costs(view), this.#state(view, origin));
    if (this.limits) this.limits.hidden = !view.open;
    this.#showEnds(view);
    this.#showTree(view);
    this.#showGrants(view);
  }

  /** The approvals that also let later calls run. */
  #showGrants({ grants = [], open, current }) {
    this.grants.hidden = grants.length === 0;
    replaceChildren(
      this.grants,
      h('h3', {}, 'Approved for later calls'),
      h('ul', {}, grants.map((grant) => h('li', { 'data-grant': grant.grant }, this.#grant(grant), open && current ? this.#revoke(grant) : null))),
    );
  }

  #grant({ grant, tool, callId, like, anyArgs, argsText, times, used, until, status, by, verified }) {
    return [
      `${grant}: `,
      h('bdi', {}, tool),
      anyArgs ? ' with any arguments' : like === undefined ? ' with the same arguments ' : ' with arguments like ',
      anyArgs ? null : argsText === undefined ? `as call ${callId}` : h('code', { dir: 'auto' }, argsText),
      `, ${status}, used ${used}${times === undefined ? '' : ` of ${times}`} times, by ${decider({ by, verified })}`,
      until === undefined ? null : `, until ${clock(until)}`,
      '. ',
    ];
  }

  #revoke({ grant, status }) {
    if (status !== 'open' || !session.may('decide')) return null;
    const problem = h('span', { class: 'problem', role: 'alert' });
    const send = sender();
    const revoke = () =>
      attempt(problem, async () => {
        await send(`${threadPath(this.page.thread)}/revoke`, JSON.stringify({ grant }));
        this.page.refresh();
      });
    return [h('button', { class: 'quiet', onclick: revoke }, 'Revoke'), problem];
  }

  #costs(view) {
    const used = tokens(view.totalUsage);
    return h(
      'section',
      {},
      h('h3', {}, 'Cost'),
      h('p', { class: 'amount' }, view.costUsd === null ? 'Unknown' : dollars(view.costUsd), view.budget.usd === undefined ? null : h('span', { class: 'muted' }, ` of ${dollars(view.budget.usd)}`)),
      view.budget.usd === undefined ? null : meter('Cost', view.costUsd ?? 0, view.budget.usd),
      view.inherited?.costUsd > 0 ? h('p', { class: 'muted' }, `${dollars(view.inherited.costUsd)} of this was spent before this thread began.`) : null,
      h(
        'p',
        { class: 'muted' },
        `${number(view.totalUsage.inputTokens)} tokens in${parts(view.totalUsage.cacheReadTokens, 'from the cache')}, `
          + `${number(view.totalUsage.outputTokens)} out${parts(view.totalUsage.reasoningTokens, 'for reasoning')}`,
        view.budget.tokens === undefined ? null : ` (${number(used)} of ${number(view.budget.tokens)})`,
      ),
      view.budget.tokens === undefined ? null : meter('Tokens', used, view.budget.tokens),
      view.costUsd === null ? h('p', { class: 'muted' }, 'No price is known for this model.') : null,
    );
  }

  #state(view, origin) {
    return h(
      'section',
      {},
      h('h3', {}, 'Thread'),
      facts([
        ['Status', view.open || !view.current ? threadWords(view) : `closed, ${statusWords(view.status)}`],
        ['Turn', String(view.turn)],
        ['Model calls', view.maxIterations === undefined ? String(view.iterations) : `${view.iterations} of ${view.maxIterations}`],
        ['Tool calls', String(view.calls.length)],
        ['Model', view.model && h('bdi', {}, view.model)],
        ...Object.entries(view.fallbacks ?? {}).map(([model, answers]) => ['Fallback', [h('bdi', {}, model), `: ${answers} ${answers === 1 ? 'answer' : 'answers'}`]]),
        ['Last change', view.at && h('span', { title: exactTime(view.at) }, clock(view.at))],
        ['Untrusted words', view.untrusted?.sentence],
        ['Ignored signals', view.ignoredCount > 0 && String(view.ignoredCount)],
        ['Thread', [h('code', {}, view.thread), ' ', copyButton(() => view.thread)]],
        ['Fork of', origin && [h('code', {}, origin), ' ', copyButton(() => origin)]],
        ['Run', view.runId && [h('code', {}, view.runId), ' ', copyButton(() => view.runId)]],
        ['Works for', view.parent && linkTo(view.parent)],
        ['Temporal', session.caller.webUi && webUiLink(view)],
      ]),
    );
  }

  /** Copies and saves a checkpoint of the state that is shown. */
  #checkpoints() {
    const format = h('select', { 'aria-label': 'Format' }, FORMATS.map((name) => h('option', { value: name }, name)));
    const problem = problemLine();
    const read = () => getText(`${threadPath(this.page.thread)}/checkpoint?format=${format.value}&at=${encodeURIComponent(this.position)}`);
    const save = () => attempt(problem, async () => saveFile(`${this.page.thread.replaceAll('/', '-')}.${format.value}.json`, await read(), 'application/json'));
    return h(
      'section',
      {},
      h('h3', {}, 'Checkpoint'),
      h('div', { class: 'row checkpoint' }, format, copyButton(read), h('button', { class: 'quiet', onclick: save }, 'Download')),
      problem,
    );
  }

  #limitForm() {
    const field = (id, label, step) => h('label', { for: id }, label, h('input', { id, type: 'number', min: step, step }));
    const problem = problemLine();
    return h(
      'details',
      { class: 'limits' },
      h('summary', {}, 'Raise limits'),
      h(
        'form',
        {
          onsubmit: (event) => {
            event.preventDefault();
            const form = event.target;
            const body = {};
            for (const name of ['usd', 'tokens', 'iterations']) {
              const { value } = form.querySelector(`#limit-${name}`);
              if (value !== '') body[name] = Number(value);
            }
            attempt(problem, async () => {
              await post(`${threadPath(this.page.thread)}/budget`, body);
              form.reset();
              this.page.refresh();
            });
          },
        },
        field('limit-usd', 'Dollars', '0.01'),
        field('limit-tokens', 'Tokens', '1'),
        field('limit-iterations', 'Model calls of this turn', '1'),
        problem,
        h('button', { type: 'submit' }, 'Raise'),
      ),
    );
  }

  /** Changes nothing as long as the commands are the same, so that updates do not remove a question that is open. */
  #showEnds(view) {
    const mayEnd = view.open && view.current && session.may('talk');
    if (mayEnd === this.#mayEnd) return;
    this.#mayEnd = mayEnd;
    if (!mayEnd) {
      replaceChildren(this.ends);
      return;
    }
    const confirm = h('div', {});
    const drop = () => replaceChildren(confirm);
    const end = (name) => {
      drop();
      this.page.command(name);
    };
    const ask = (words, name) => {
      replaceChildren(
        confirm,
        h('p', {}, words),
        h(
          'div',
          { class: 'row' },
          h('button', { class: 'danger', onclick: () => end(name) }, name === 'close' ? 'Close thread' : 'Cancel thread'),
          h('button', { onclick: drop }, 'Keep it'),
        ),
      );
      confirm.querySelector('button').focus();
    };
    replaceChildren(
      this.ends,
      h(
        'section',
        {},
        h('h3', {}, 'End'),
        h(
          'div',
          { class: 'row' },
          h('button', { onclick: () => ask('The thread closes as soon as it is idle. Its history stays.', 'close') }, 'Close …'),
          h('button', { onclick: () => ask('Running work is cancelled, and the thread ends. Its history stays.', 'cancel') }, 'Cancel …'),
        ),
        confirm,
      ),
    );
  }

  async #showTree(view) {
    const known = new Map([[view.thread, view]]);
    const show = () => replaceChildren(this.tree, subagentsOf(view).length > 0 ? h('section', {}, h('h3', {}, 'Subagents'), h('ul', { class: 'tree' }, branch(view, known))) : null);
    show();
    const shown = this.#shown;
    if (!view.current) return;
    let level = [view];
    for (let depth = 0; depth < DEPTH && level.length > 0; depth++) {
      const next = [];
      for (const { thread } of level.flatMap(subagentsOf)) {
        try {
          const child = await get(`${threadPath(thread)}/conversation`);
          known.set(thread, child);
          next.push(child);
        } catch {
          // The call of the subagent shows what is known.
        }
      }
      level = next;
      if (this.#shown === shown) show();
    }
  }
}

const subagentsOf = (view) =>
  view.calls.filter((call) => call.subagent).map((call) => ({ ...call.subagent, call }));

function branch(view, known, isRoot = true) {
  const children = subagentsOf(view);
  return h(
    'li',
    {},
    h('span', { class: 'node' }, isRoot ? h('strong', {}, view.agent) : linkTo(view.thread, view.agent), h('span', { class: `chip ${view.status}` }, threadWords(view)), view.costUsd === null ? null : h('span', { class: 'muted' }, dollars(view.costUsd))),
    children.length === 0
      ? null
      : h(
          'ul',
          {},
          children.map((child) => (known.has(child.thread) ? branch(known.get(child.thread), known, false) : h('li', {}, h('span', { class: 'node' }, linkTo(child.thread, child.agent), h('span', { class: 'chip' }, child.call.status))))),
        ),
  );
}

const linkTo = (thread, words = shortId(thread)) => h('a', { href: threadLink(thread) }, words);

/** The run in Temporal's Web UI, which shows its raw history. */
const webUiLink = ({ thread, runId }) =>
  h('a', { href: `${session.caller.webUi}/${encodeURIComponent(thread)}/${runId}/history`, target: '_blank', rel: 'noreferrer' }, 'Open in the Web UI');

function meter(label, value, most) {
  return h('meter', { 'aria-label': label, min: '0', max: String(most), high: String(most * 0.8), optimum: '0', value: Math.min(value, most) });
}
