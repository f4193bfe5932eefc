// Writes corpus.json.gz: random schemas, random arguments, and what ajv says about each pair.
// Run: npm install ajv@8 && node corpus.js 4711 200 10000
const fs = require('fs');
const zlib = require('zlib');
const Ajv = require('ajv/dist/2020');

const [seed, schemaCount, argsCount] = process.argv.slice(2).map(Number);
let state = seed;
function random(below) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 4294967296) * below);
}
const pick = (list) => list[random(list.length)];
const chance = (oneIn) => random(oneIn) === 0;

const FIELDS = ['a', 'b', 'amount', 'currency', 'to', 'items', 'é'];
const TEXTS = ['', 'EUR', 'USD', 'eur', 'ann@example.org', 'äöü', '漢字', '😀', 'a b', '2026-11-25', 'x'.repeat(40), '007', '/etc/passwd', '../x'];
const PATTERNS = ['^[A-Z]{3}$', '^\\d+$', '@example\\.org$', '^(?!\\.\\.)', '[äöü]', '^.{2,5}$', '\\s', '^/etc/', 'a|b'];
const NUMBERS = [0, 1, -1, 2, 7, 10, 49, 50, 51, 99.5, 0.1, 0.3, 1e3, 1e15, -0.5, 2.0];

function value(depth) {
  switch (random(depth > 2 ? 5 : 7)) {
    case 0: return pick(TEXTS);
    case 1: return pick(NUMBERS);
    case 2: return random(200) - 50;
    case 3: return chance(2);
    case 4: return chance(3) ? null : pick(TEXTS);
    case 5: return Array.from({ length: random(5) }, () => value(depth + 1));
    default: return object(depth + 1);
  }
}
function object(depth) {
  const made = {};
  for (let i = random(5); i > 0; i--) made[pick(FIELDS)] = value(depth);
  return made;
}
function keyword(depth) {
  switch (random(depth > 2 ? 12 : 22)) {
    case 0: return { type: pick(['string', 'number', 'integer', 'boolean', 'null', 'array', 'object', ['string', 'null'], ['integer', 'string']]) };
    case 1: return { enum: [value(2), value(2), pick(TEXTS), pick(NUMBERS)] };
    case 2: return { const: value(2) };
    case 3: return { minimum: pick(NUMBERS) };
    case 4: return { maximum: pick(NUMBERS) };
    case 5: return { exclusiveMinimum: pick(NUMBERS) };
    case 6: return { exclusiveMaximum: pick(NUMBERS) };
    case 7: return { multipleOf: pick([1, 2, 5, 0.5, 10]) };
    case 8: return { minLength: random(4) };
    case 9: return { maxLength: random(8) };
    case 10: return { pattern: pick(PATTERNS) };
    case 11: return { minItems: random(3), maxItems: 1 + random(4) };
    case 12: return { properties: { [pick(FIELDS)]: schema(depth + 1), [pick(FIELDS)]: schema(depth + 1) } };
    case 13: return { required: [pick(FIELDS)] };
    case 14: return { additionalProperties: chance(2) ? false : schema(depth + 1) };
    case 15: return { items: schema(depth + 1), uniqueItems: chance(3) };
    // Without a maximum, ajv 8 lets an empty array pass after one that contains a match.
    case 16: return { contains: schema(depth + 1), minContains: 1, maxContains: 99 };
    case 17: return { anyOf: [schema(depth + 1), schema(depth + 1)] };
    case 18: return { oneOf: [schema(depth + 1), schema(depth + 1)] };
    case 19: return { not: schema(depth + 1) };
    case 20: return { if: schema(depth + 1), then: schema(depth + 1), else: schema(depth + 1) };
    default: return { patternProperties: { '^a': schema(depth + 1) }, propertyNames: { maxLength: 1 + random(8) }, minProperties: random(2), dependentRequired: { a: ['b'] } };
  }
}
function schema(depth) {
  if (depth > 0 && chance(25)) return chance(2);
  const made = {};
  for (let i = 1 + random(depth === 0 ? 4 : 2); i > 0; i--) Object.assign(made, keyword(depth));
  return made;
}
/** Schemas at the top look at fields of an object, as rules about arguments do. */
function rule() {
  return chance(4) ? schema(0) : { properties: { [pick(FIELDS)]: schema(1), [pick(FIELDS)]: schema(1) }, ...(chance(2) ? { required: [pick(FIELDS)] } : {}), ...(chance(4) ? keyword(0) : {}) };
}

const args = Array.from({ length: argsCount }, () => object(0));
const schemas = [];
const verdicts = [];
while (schemas.length < schemaCount) {
  const made = rule();
  const validate = new Ajv({ strict: false, logger: false }).compile(made);
  const bits = Buffer.alloc(Math.ceil(argsCount / 8));
  try {
    args.forEach((each, i) => { if (validate(each)) bits[i >> 3] |= 1 << (i & 7); });
  } catch (e) {
    continue; // ajv 8.17 generates broken code for patternProperties within anyOf.
  }
  schemas.push(made);
  verdicts.push(bits.toString('base64'));
}
fs.writeFileSync('corpus.json.gz', zlib.gzipSync(JSON.stringify({ schemas, args, verdicts }), { level: 9 }));
