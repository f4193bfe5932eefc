// Prints how the console shows texts: node safe-text.mjs FILE. Texts are lists of UTF-16 units, which may be unpaired.
import { readFileSync } from 'node:fs';
import { safeLines } from './console/safe-text.js';

const texts = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const units = (text) => Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));
console.log(JSON.stringify(texts.map((text) => units(safeLines(text.map((unit) => String.fromCharCode(unit)).join(''))))));
