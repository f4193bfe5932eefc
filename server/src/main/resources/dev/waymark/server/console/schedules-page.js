// The schedules that start threads, and what one may do with them.
import { goToThread, threadLink } from './address.js';
import { attempt, get, sender, showProblem } from './api.js';
import { backLink, facts, h, problemLine, replaceChildren, showList } from './dom.js';
import { clock, commandLine, exactTime, shellWord, statusWords } from './format.js';

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
      this.note.textContent = schedules.length > 0 ? '' : 'There are no schedules. “./waymark schedule create” makes one.';
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
        ['When', [whenWords(schedule), timezone ? `, ${timezone}` : null]],
        [paused ? 'Next, if resumed' : 'Next', next[0] && h('time', { datetime: next[0], title: exactTime(next[0]) }, clock(next[0]))],
        ['Note', note && h('bdi', {}, note)],
        ['Last run', last && [h('a', { href: threadLink(last.thread) }, clock(last.startedAt)), last.status ? `, ${statusWords(last.status)}` : null]],
      ]),
      actions,
      h('p', { class: 'muted' }, 'To delete it: ', h('code', {}, commandLine(`schedule delete ${shellWord(name)}`))),
      problem,
    );
  }
}

function whenWords({ cron, every, calendar }) {
  if (cron === undefined) return every === undefined ? JSON.stringify(calendar ?? {}) : `every ${every}`;
  return [cronWords(cron), ' ', h('code', {}, cron)];
}

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** A usual cron expression in words, such as `Monday to Friday at 09:00`; empty for all others. */
export function cronWords(cron) {
  const [minute, hour, date, month, day, ...more] = cron.trim().split(/\s+/);
  if (month !== '*' || day === undefined || more.length > 0) return '';
  const minutes = timeOf(minute, 60);
  const hours = timeOf(hour, 24);
  if (date === '*' && day === '*') {
    if (hour === '*' && minutes.every) return minutes.every === 1 ? 'every minute' : `every ${minutes.every} minutes`;
    if (hours.every && minutes.at) return `every ${hours.every === 1 ? 'hour' : `${hours.every} hours`}, at minute ${Number(minutes.at)}`;
  }
  const days = daysOf(date, day);
  return hours.at && minutes.at && days ? `${days} at ${hours.at}:${minutes.at}` : '';
}

/** A field as one value, or as a step by which the hour or the day can be divided: another one begins anew with each. */
function timeOf(field, whole) {
  const step = field === '*' ? 1 : Number(field.match(/^\*\/(\d+)$/)?.[1]);
  return { every: whole % step === 0 ? step : undefined, at: /^\d+$/.test(field) && Number(field) < whole ? field.padStart(2, '0').slice(-2) : undefined };
}

function daysOf(date, day) {
  if (day === '*') return date === '*' ? 'every day' : /^\d+$/.test(date) && date > 0 && date < 29 ? `on day ${Number(date)} of every month` : '';
  const names = day.split(/[-,]/).map(dayOf);
  if (date !== '*' || names.includes(undefined)) return '';
  if (day.includes('-')) return names.length === 2 ? names.join(' to ') : '';
  return `every ${names.join(', ')}`;
}

const dayOf = (name) => DAYS[/^[0-7]$/.test(name) ? name % 7 : DAYS.findIndex((each) => each.slice(0, 3).toUpperCase() === name.toUpperCase())];
