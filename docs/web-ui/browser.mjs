// What an operator does in the Web UI, in a headless Chromium: looks at a run, reads its card, answers its question.
// Called by check.sh:  node browser.mjs UI THREAD WORK-DIRECTORY SCREENSHOT-DIRECTORY
import { click, command, element, eventually, inBrowser, pageText, report, screenshot, script } from './webdriver.mjs';

const [ui, thread] = process.argv.slice(2);

/** The card: the frame under the heading "Current Details". The summary is in such a frame, too. */
async function card() {
    await command('POST', '/frame', { id: null });
    const frame = await script(
        `let part = [...document.querySelectorAll('main *')].find(
             (e) => e.childElementCount === 0 && e.textContent.trim() === 'Current Details');
         while (part && !part.querySelector('iframe')) part = part.parentElement;
         return part && part.querySelector('iframe')`,
    );
    if (!frame) return '';
    await command('POST', '/frame', { id: frame });
    try {
        return await script('return document.body.innerText');
    } finally {
        await command('POST', '/frame', { id: null });
    }
}

async function cardWith(...parts) {
    const text = await eventually(async () => {
        const now = await card();
        return parts.every((part) => now.includes(part)) && now;
    });
    return text || card();
}

async function operate() {
    await command('POST', '/url', { url: `${ui}/namespaces/default/workflows/${thread}` });

    // The timeline is drawn last.
    const names = ['agent • agent booking', 'model • step 1', 'free_tables • tu_1', 'model • step 2'];
    await eventually(async () => (await pageText()).includes(names[0]));
    const timeline = (await pageText()).split('\n');
    for (const name of names) {
        report(timeline.includes(name), `the timeline shows "${name}"`, timeline);
    }
    report(timeline.includes('Running'), 'the page says that the run is running', timeline.slice(0, 8));
    await screenshot('timeline');

    await click('a', 'User Metadata');
    const waiting = await cardWith('Waiting for an answer');
    const parts = ['Waiting for an answer', 'Thursday or Friday?', 'Send a Signal → answer', '"your answer"', '{"days":'];
    for (const part of parts) {
        report(waiting.includes(part), `the card says: ${part}`, waiting);
    }
    await screenshot('card');

    // Not on the card's page: there the key R reloads the card, and does not arrive in the dialog.
    await click('a[href*="/history"]');
    await click('button', 'More Actions');
    await click('[data-testid=signal-button]');
    const dialog = 'dialog[open]';
    await click(`${dialog} [data-testid=signal-select-button]`);
    await element(`${dialog} [role=option] span`, 'answer');
    const offered = await script(
        'return [...document.querySelectorAll(arguments[0])].map((e) => e.innerText.split("\\n")[0])',
        `${dialog} [role=option]`,
    );
    report(offered.includes('answer'), 'the signal dialog offers "answer"', offered);
    await click(`${dialog} [role=option] span`, 'answer');
    const input = await element(`${dialog} [role=textbox]`);
    await command('POST', `${input}/click`, {});
    await command('POST', `${input}/value`, { text: '"Friday"' });
    const typed = await command('GET', `${input}/text`);
    report(typed === '"Friday"', 'the dialog takes "Friday" as its input', typed);
    await screenshot('answer');
    await click(`${dialog} button[type=submit]`);

    const completed = await eventually(async () => {
        const text = await pageText();
        return /^Completed$/m.test(text) && text.includes('model • step 3') && text;
    });
    report(Boolean(completed), 'the page says, by itself, that the run is completed', completed);
    const result = await eventually(async () => (await pageText()).includes('Your table is booked.'));
    report(result, 'the page shows the result', await pageText());
    await screenshot('completed');

    await click('a', 'User Metadata');
    const done = await cardWith('last turn: complete');
    report(done.includes('last turn: complete') && done.includes('Friday'), 'the card says how it ended', done);
}

await inBrowser(operate);
