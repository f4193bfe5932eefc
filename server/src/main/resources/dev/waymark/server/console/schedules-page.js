// The schedules that start threads, and what one may do with them.
import { goToThread, threadLink } from './address.js';
import { attempt, get, sender, showProblem } from './api.js';
import { backLink, facts, h, problemLine, replaceChildren, showList } from './dom.js';
import { clock, exactTime, shellWord, statusWords } from './format.js';

const PAGE = 100;
const pathOf = (name) => `/v1/schedules/${encodeURIComponent(name)}`;

export class SchedulesPage {
  title = 'Schedules';
  draft = undefined;

  constructor() {
    this.heading = h('h1', { tabindex: '-1' }, 'Schedules');
    this.note = h('p', { class: 'muted', role: 'status' }, 'Reading the schedules …');
    this.problem = problemLine();
    this.list = h('ul', { class: 'schedule-list' });
    this.element = h('section', { class: 'scroller', 'aria-label': 'Schedules' }, h('div', { class: 'column' }, backLink(), this.heading, this.note, this.problem, this.list));
    this.load();
  }

  shown() {
    this.heading.focus();
  }

  close() {}

  async load() {
    try {
      const schedules = [];
      for (let after; ;) {
        const page = await get(`/v1/schedules?${new URLSearchParams({ limit: PAGE, ...(after && { after }) })}`);
        schedules.push(...page.schedules);
        after = page.next;
        if (after === undefined) break;
      }
      this.note.textContent = schedules.length > 0 ? '' : 'There are no schedules. “waymark schedule create” makes one.';
      showList(
        this.list,
        schedules.map((schedule) => ({ key: schedule.name, signature: JSON.stringify(schedule), render: () => this.#row(schedule) })),
      );
    } catch (failure) {
      this.note.textContent = '';
      showProblem(this.problem, failure);
    }
  }

  #row(schedule) {
    const { name, agent, message, paused, note, next, runs, timezone } = schedule;
    const post = sender();
    const problem = problemLine();
    const actions = h('div', { class: 'row' });
    const send = (command, body = '{}') =>
      attempt(problem, async () => {
        const answer = await post(`${pathOf(name)}/${command}`, body);
        if (answer.thread !== undefined) goToThread(answer.thread);
        else await this.load();
      });
    replaceChildren(
      actions,
      h('button', { onclick: () => send('trigger') }, 'Start now'),
      paused ? h('button', { onclick: () => send('resume') }, 'Resume') : h('button', { onclick: () => send('pause') }, 'Pause'),
    );
    const last = runs.at(-1);
    return h(
      'li',
      { class: 'panel-card' },
      h('h2', {}, h('bdi', {}, name), paused ? [' ', h('span', { class: 'chip warn' }, 'paused')] : null),
      message === undefined ? null : h('p', { dir: 'auto' }, message),
      facts([
        ['Agent', h('bdi', {}, agent)],
        ['When', `${whenWords(schedule)}${timezone ? `, ${timezone}` : ''}`],
        [paused ? 'Next, if resumed' : 'Next', next[0] && h('time', { datetime: next[0], title: exactTime(next[0]) }, clock(next[0]))],
        ['Note', note && h('bdi', {}, note)],
        ['Last run', last && [h('a', { href: threadLink(last.thread) }, clock(last.startedAt)), last.status ? `, ${statusWords(last.status)}` : null]],
      ]),
      actions,
      h('p', { class: 'muted' }, 'To delete it: ', h('code', {}, `waymark schedule delete ${shellWord(name)}`)),
      problem,
    );
  }
}

const whenWords = ({ cron, every, calendar }) => cron ?? (every === undefined ? JSON.stringify(calendar ?? {}) : `every ${every}`);
