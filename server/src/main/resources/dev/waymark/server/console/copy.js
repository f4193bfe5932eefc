// Copies text and saves it as files. What is copied is what is shown: an invisible character is copied as its escape.
import { announce, h, replaceChildren } from './dom.js';
import { safeLines } from './safe-text.js';

const SHOWN_MILLIS = 2_000;

/**
 * A button that copies the text that this function returns. Absent where the browser has no clipboard, as over plain
 * HTTP from another machine.
 */
export function copyButton(text, words = 'Copy') {
  if (navigator.clipboard === undefined) return null;
  const button = h(
    'button',
    {
      type: 'button',
      class: 'quiet copy',
      onclick: async () => {
        try {
          await navigator.clipboard.writeText(safeLines(await text()));
          say('Copied');
          announce('Copied');
        } catch {
          say('Not copied: the browser refused');
        }
      },
    },
    words,
  );
  const say = (result) => {
    replaceChildren(button, result);
    setTimeout(() => replaceChildren(button, words), SHOWN_MILLIS);
  };
  return button;
}

/** Saves text as a file, exactly as it is. */
export function saveFile(path, text, type = 'text/plain') {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = h('a', { href: address, download: path.split('/').at(-1) });
  link.click();
  URL.revokeObjectURL(address);
}
