// Edits the arguments of a call: as JSON, with a field for each simple argument that the tool's schema declares, and with
// the changes so far. The JSON text is what is sent. The fields change only their own part of it, as text, because
// parsing would round large numbers.
import { changesBlock, showChanges } from './changes.js';
import { h, replaceChildren } from './dom.js';
import { indented, members, objectProblem, unquoted } from './json-text.js';
import { safeLines } from './safe-text.js';

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const INTEGER = /^-?(0|[1-9]\d*)$/;
/** Some write a thousand like this, and others one. */
const THOUSANDS = /^-?[1-9]\d{0,2},\d{3}$/;
const LONG_TEXT = 60;

let editors = 0;

export class ArgumentEditor {
  #id = `arguments-${++editors}`;
  #fields = [];
  /** The members of the arguments before they were edited. */
  #known;

  /**
   * @param argsText the arguments as JSON text
   * @param schema the tool's JSON Schema, if it is known
   */
  constructor(argsText, schema) {
    this.before = indented(argsText).split('\n');
    this.field = h('textarea', {
      class: 'mono',
      rows: String(Math.min(24, this.before.length + 1)),
      spellcheck: 'false',
      'aria-label': 'Arguments',
      value: indented(argsText),
      oninput: () => this.#edited(),
    });
    this.form = h('div', { class: 'fields' });
    this.changes = changesBlock('Changes of the arguments');
    this.#showFields(argsText, schema);
    this.element = h(
      'div',
      { class: 'argument-editor' },
      h('div', { class: this.#fields.length > 0 ? 'two' : '' }, this.#fields.length > 0 ? this.form : null, this.field),
      this.changes,
    );
    this.#showChanges();
  }

  focus() {
    (this.#fields[0]?.control ?? this.field).focus();
  }

  /** The arguments as JSON text. */
  get text() {
    return this.field.value;
  }

  get isChanged() {
    return !this.changes.hidden;
  }

  /** Why the arguments cannot be sent; empty if they can. */
  get problem() {
    const wrong = this.#fields.find(({ problem }) => problem.textContent !== '');
    return wrong ? `${wrong.name}: ${wrong.problem.textContent}` : objectProblem(this.text, 'The arguments');
  }

  #showFields(argsText, schema) {
    const known = members(argsText);
    this.#known = known;
    const declared = Object.entries(schema?.properties ?? {});
    this.#fields = declared.flatMap(([name, rules], i) => {
      const kind = kindOf(rules, known.get(name)?.value);
      return kind === undefined ? [] : [this.#field(name, rules, kind, `${this.#id}-${i}`)];
    });
    const others = new Set([...known.keys(), ...declared.map(([name]) => name)]);
    this.#fields.forEach(({ name }) => others.delete(name));
    replaceChildren(
      this.form,
      this.#fields.map(({ element }) => element),
      others.size > 0 ? h('p', { class: 'muted' }, `Edit as JSON: ${[...others].join(', ')}`) : null,
    );
    this.#fill(known);
  }

  #field(name, rules, kind, id) {
    const about = { id, 'aria-describedby': `${id}-note ${id}-problem`, oninput: () => this.#typed(name, kind) };
    const choices = kind === 'boolean' ? ['true', 'false'] : rules.enum?.map((value) => JSON.stringify(value));
    const control = choices
      ? h('select', about, h('option', { value: '' }, '—'), choices.map((value) => h('option', { value }, unquoted(value))))
      : kind === 'text'
        ? h('textarea', { ...about, rows: '2', spellcheck: 'false' })
        : h('input', { ...about, type: 'text', inputmode: kind === 'string' ? undefined : 'decimal', autocomplete: 'off' });
    const problem = h('p', { id: `${id}-problem`, class: 'problem', role: 'alert' });
    const element = h(
      'div',
      {},
      h('label', { for: id }, name),
      control,
      h('p', { id: `${id}-note`, class: 'muted', dir: 'auto' }, typeof rules.description === 'string' ? rules.description : ''),
      problem,
    );
    return { name, kind, control, problem, element };
  }

  /** Shows the members of the JSON text in the fields. */
  #fill(known) {
    for (const { name, kind, control, problem } of this.#fields) {
      const value = known.get(name)?.value ?? '';
      problem.textContent = '';
      const next = isText(kind) ? unquoted(value) : value;
      if (control.tagName === 'SELECT' && next !== '' && ![...control.options].some((option) => option.value === next)) {
        control.append(h('option', { value: next }, unquoted(next)));
      }
      control.value = next;
    }
  }

  /** A field has changed: replaces its member of the JSON text. */
  #typed(name, kind) {
    const { control, problem } = this.#fields.find((field) => field.name === name);
    const typed = isText(kind) ? control.value : kind === 'number' ? withPoint(control.value.trim()) : control.value.trim();
    problem.textContent = typed === '' ? '' : numberProblem(typed, kind);
    if (objectProblem(this.text, 'The arguments') !== '') return;
    const all = members(this.text);
    const key = all.get(name)?.key ?? JSON.stringify(name);
    if (problem.textContent !== '') {
      // What was typed on the way to something wrong does not count either.
      if (this.#known.has(name)) all.set(name, { key, value: this.#known.get(name).value });
      else all.delete(name);
    } else if (typed === '' && !(isText(kind) && all.has(name))) all.delete(name);
    else all.set(name, { key, value: isText(kind) ? JSON.stringify(typed) : typed });
    this.field.value = indented(`{${[...all.values()].map(({ key, value }) => `${key}:${value}`).join(',')}}`);
    this.#showChanges();
  }

  /** The JSON text has changed. */
  #edited() {
    if (objectProblem(this.text, 'The arguments') === '') this.#fill(members(this.text));
    this.#showChanges();
  }

  #showChanges() {
    const isObject = objectProblem(this.text, 'The arguments') === '';
    const after = (isObject ? indented(this.text) : this.text).split('\n');
    this.changes.hidden = !showChanges(this.changes, this.before, after);
  }
}

const isText = (kind) => kind === 'string' || kind === 'text';

/** A number with a decimal comma, as some keyboards have it, as JSON writes it. */
const withPoint = (typed) => (THOUSANDS.test(typed) ? typed : typed.replace(/^([^.,]*),([^.,]*)$/, '$1.$2'));

/** Why this is not a number of this kind; empty if it is one, or need not be. */
function numberProblem(typed, kind) {
  const wanted = { integer: INTEGER, number: NUMBER }[kind];
  if (wanted === undefined || wanted.test(typed)) return '';
  if (!THOUSANDS.test(typed)) return `This is not ${kind === 'integer' ? 'a whole number' : 'a number'}.`;
  const whole = typed.replace(',', '');
  return kind === 'integer' ? `Write ${whole}, without a comma.` : `Write ${whole} or ${typed.replace(',', '.').replace(/0{1,2}$/, '')}: the comma is ambiguous.`;
}

/** The kind of field for an argument; none if it can only be edited as JSON. */
function kindOf(rules, value) {
  if (typeof rules !== 'object' || rules === null) return undefined;
  if (Array.isArray(rules.enum)) return 'choice';
  switch (rules.type) {
    case 'boolean':
      return value === undefined || value === 'true' || value === 'false' ? 'boolean' : undefined;
    case 'integer':
    case 'number':
      return value === undefined || NUMBER.test(value) ? rules.type : undefined;
    case 'string': {
      if (value === undefined) return 'string';
      if (!value.startsWith('"')) return undefined;
      const text = JSON.parse(value);
      // A field would show invisible characters as they are.
      if (safeLines(text) !== text) return undefined;
      return text.length > LONG_TEXT || text.includes('\n') ? 'text' : 'string';
    }
    default:
      return undefined;
  }
}
