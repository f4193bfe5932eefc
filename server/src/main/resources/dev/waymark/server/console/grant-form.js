// Chooses which later calls an approval also lets run: how many, how long, and with which arguments. Values of arguments
// stay text, because parsing would round large numbers.
import { h, replaceChildren } from './dom.js';
import { clock } from './format.js';
import { members } from './json-text.js';
import { excerpt } from './safe-text.js';

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

let forms = 0;

export class GrantForm {
  #id = `grant-${++forms}`;
  #tool;
  #rows;

  /**
   * @param argsText the arguments of the call that is approved, as JSON text
   * @param schema the tool's JSON Schema, if it is known
   */
  constructor(tool, argsText, schema) {
    this.#tool = tool;
    const changed = { oninput: () => this.#show() };
    this.times = h('input', { type: 'number', min: '1', max: '1000', placeholder: 'no limit', ...changed });
    this.hours = h('input', { type: 'number', min: '0.01', max: '8784', step: 'any', placeholder: 'until the thread ends', ...changed });
    this.preview = h('p', { 'aria-live': 'polite' });
    const given = members(argsText);
    const declared = schema?.properties ?? {};
    this.#rows = [...new Set([...given.keys(), ...Object.keys(declared)])].map((name, i) =>
      this.#row(name, given.get(name), declared[name], `${this.#id}-${i}`),
    );
    this.element = h(
      'div',
      { class: 'grant-form' },
      h('div', { class: 'row', role: 'group', 'aria-label': 'How long' }, [
        this.#preset('Once more', () => ['1', '']),
        this.#preset('3 times', () => ['3', '']),
        this.#preset('Today', () => ['', hoursLeftToday()]),
        this.#preset('This thread', () => ['', '']),
      ]),
      h('label', {}, 'Number of later calls', this.times),
      h('label', {}, 'Hours', this.hours),
      h('div', { class: 'fields' }, this.#rows.map(({ element }) => element)),
      this.preview,
    );
    this.times.value = '1';
    this.#show();
  }

  focus() {
    this.times.focus();
  }

  /** Whether any arguments will do. */
  get isAny() {
    return this.#rows.length > 0 && this.#rows.every(isFree);
  }

  /** Why the grant cannot be sent; empty if it can. */
  get problem() {
    const wrong = this.#rows.find((row) => isBound(row) && !(NUMBER.test(row.bound.value) && Number(row.bound.value) >= Number(row.value)));
    return wrong === undefined ? '' : `${wrong.name}: write a number that is not below ${wrong.value}.`;
  }

  /** The grant as JSON text. */
  get text() {
    const limits = [];
    if (this.times.value !== '') limits.push(`"times":${this.times.value}`);
    if (this.hours.value !== '') limits.push(`"seconds":${this.#seconds()}`);
    if (this.isAny) limits.push('"anyArgs":true');
    else if (this.#rows.some((row) => row.choice.value !== 'same')) limits.push(`"like":${this.#schema()}`);
    return `{${limits.join(',')}}`;
  }

  #seconds() {
    return Math.round(Number(this.hours.value) * 3_600);
  }

  /** Arguments that are not listed must be absent: the tool may take more than its schema says. */
  #schema() {
    const bound = this.#rows.filter((row) => !isFree(row) && row.value !== undefined);
    const names = (rows) => `[${rows.map(({ name }) => JSON.stringify(name)).join(',')}]`;
    const properties = bound.map((row) => `${JSON.stringify(row.name)}:${isBound(row) ? range(row) : `{"const":${row.value}}`}`);
    return `{"properties":{${properties.join(',')}},"required":${names(bound)},"propertyNames":{"enum":${names([...bound, ...this.#rows.filter(isFree)])}}}`;
  }

  #preset(words, values) {
    const choose = () => {
      [this.times.value, this.hours.value] = values();
      this.#show();
    };
    return h('button', { type: 'button', onclick: choose }, words);
  }

  #row(name, member, rules, id) {
    const value = member?.value;
    const isNumber = value !== undefined && NUMBER.test(value);
    const choice = h(
      'select',
      { id, oninput: () => this.#show() },
      h('option', { value: 'same' }, value === undefined ? 'not given' : `only ${excerpt(value, 60)}`),
      isNumber ? h('option', { value: 'bound' }, 'up to …') : null,
      h('option', { value: 'free' }, 'anything'),
    );
    const bound = h('input', { type: 'text', inputmode: 'decimal', autocomplete: 'off', 'aria-label': `Largest ${name}`, value: value ?? '', oninput: () => this.#show() });
    const type = rules?.type === 'integer' ? 'integer' : 'number';
    return { name, value, type, choice, bound, element: h('div', {}, h('label', { for: id }, name), choice, bound) };
  }

  /** Says in words what is chosen. */
  #show() {
    for (const row of this.#rows) row.bound.hidden = !isBound(row);
    const times = this.times.value === '1' ? 'once more' : `${this.times.value} more times`;
    const spans = [];
    if (this.times.value !== '') spans.push(times);
    if (this.hours.value !== '') spans.push(`until ${clock(new Date(Date.now() + this.#seconds() * 1_000).toISOString())}`);
    if (spans.length === 0) spans.push('until the thread ends');
    replaceChildren(
      this.preview,
      h('bdi', {}, this.#tool),
      ` then also runs in this thread without asking, ${spans.join(', ')}, `,
      this.#argumentWords(),
      '. The rules can still deny a call. You can revoke this in the details.',
    );
  }

  #argumentWords() {
    if (this.isAny) return h('strong', {}, 'with any arguments');
    if (this.#rows.every((row) => row.choice.value === 'same')) return 'with these same arguments';
    return [
      'with ',
      this.#rows.map((row, i) => [i === 0 ? '' : ', ', h('bdi', {}, row.name), ' ', h('bdi', {}, valueWords(row))]),
    ];
  }
}

const isFree = ({ choice }) => choice.value === 'free';
const isBound = ({ choice }) => choice.value === 'bound';

/** An amount that is not negative stays so. */
const isFromZero = ({ value }) => Number(value) >= 0;
const range = (row) => `{"type":"${row.type}",${isFromZero(row) ? '"minimum":0,' : ''}"maximum":${row.bound.value}}`;

function valueWords(row) {
  if (isFree(row)) return 'anything';
  if (isBound(row)) return `${isFromZero(row) ? 'from 0 ' : ''}to ${row.bound.value}`;
  return row.value === undefined ? 'not given' : `only ${excerpt(row.value, 60)}`;
}

/** Rounded down to a hundredth. */
function hoursLeftToday() {
  const midnight = new Date();
  midnight.setHours(24, 0, 0, 0);
  return String(Math.max(0.01, Math.floor((midnight - Date.now()) / 36_000) / 100));
}
