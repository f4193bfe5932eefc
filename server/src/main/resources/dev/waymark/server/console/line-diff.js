// Compares two states of a thread, line by line.
import { indented } from './json-text.js';

const MOST_CELLS = 4_000_000;

/** The differences between two lists of lines: `[{ kind: 'same' | 'added' | 'removed', text }]`. */
export function diff(before, after) {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const same = (lines) => lines.map((text) => ({ kind: 'same', text }));
  return [
    ...same(before.slice(0, start)),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(after.slice(after.length - end)),
  ];
}

/** Finds the longest common subsequence, unless the texts are too long for that. */
function middle(before, after) {
  const removed = (text) => ({ kind: 'removed', text });
  const added = (text) => ({ kind: 'added', text });
  const rows = before.length;
  const columns = after.length;
  if (rows * columns > MOST_CELLS) return [...before.map(removed), ...after.map(added)];
  const lengths = new Uint32Array((rows + 1) * (columns + 1));
  const at = (i, j) => i * (columns + 1) + j;
  for (let i = rows - 1; i >= 0; i--) {
    for (let j = columns - 1; j >= 0; j--) {
      lengths[at(i, j)] =
        before[i] === after[j] ? lengths[at(i + 1, j + 1)] + 1 : Math.max(lengths[at(i + 1, j)], lengths[at(i, j + 1)]);
    }
  }
  const lines = [];
  let i = 0;
  let j = 0;
  while (i < rows && j < columns) {
    if (before[i] === after[j]) {
      lines.push({ kind: 'same', text: before[i] });
      i++;
      j++;
    } else if (lengths[at(i + 1, j)] >= lengths[at(i, j + 1)]) {
      lines.push(removed(before[i++]));
    } else {
      lines.push(added(after[j++]));
    }
  }
  return [...lines, ...before.slice(i).map(removed), ...after.slice(j).map(added)];
}

/** A state of a thread as lines of text. */
export function outline(view) {
  const calls = new Map(view.calls.map((call) => [call.callId, call]));
  const lines = [`status: ${view.status}`, `tokens: ${view.totalUsage.inputTokens} in, ${view.totalUsage.outputTokens} out`];
  if (view.costUsd !== null) lines.push(`cost: ${view.costUsd} USD`);
  for (const [name, limit] of Object.entries(view.budget)) lines.push(`limit: ${limit} ${name}`);
  for (const item of view.pending) lines.push(`waits: ${item.kind} of ${item.tool} (${item.callId})`);
  for (const { role, content } of view.messages) {
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    for (const part of parts) lines.push(...partLines(role, part, calls));
  }
  for (const text of view.queued) lines.push(...labelled('user (queued)', text));
  if (view.error) lines.push(...labelled(view.error.type, view.error.message));
  return lines;
}

function partLines(role, part, calls) {
  switch (part.type) {
    case 'text':
      return labelled(role, part.text);
    case 'tool_use': {
      const call = calls.get(part.id);
      return [
        ...labelled(`call ${part.name} (${part.id})`, indented(call?.argsText ?? JSON.stringify(part.input))),
        `  is ${call?.status ?? 'issued'}`,
      ];
    }
    case 'tool_result':
      return labelled(`${part.isError ? 'error' : 'result'} (${part.toolUseId})`, String(part.content));
    default:
      return labelled(part.type, JSON.stringify(part));
  }
}

const labelled = (label, text) => [`${label}:`, ...text.split('\n').map((line) => `  ${line}`)];

const CONTEXT = 2;

/** Differences with a few lines around them; longer unchanged parts become `{ kind: 'gap', count }`. */
export function condensed(lines) {
  const near = new Set();
  lines.forEach(({ kind }, i) => {
    if (kind !== 'same') for (let k = i - CONTEXT; k <= i + CONTEXT; k++) near.add(k);
  });
  const out = [];
  let count = 0;
  lines.forEach((line, i) => {
    if (near.has(i)) {
      if (count > 0) out.push({ kind: 'gap', count });
      count = 0;
      out.push(line);
    } else {
      count++;
    }
  });
  if (count > 0) out.push({ kind: 'gap', count });
  return out;
}
