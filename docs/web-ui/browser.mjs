// What an operator does in the Web UI, in a headless Chromium: looks at a run, reads its card, answers its question.
// Called by check.sh:  node browser.mjs UI THREAD WORK-DIRECTORY SCREENSHOT-DIRECTORY
// Speaks WebDriver with chromedriver itself, so that nothing needs to be installed for Node.js.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [ui, thread, work, screenshots] = process.argv.slice(2);
const PATIENCE = 20_000;
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

let failed = false;
const report = (holds, what, found) => {
    console.log(`${holds ? 'ok    ' : 'FAILED'}  ${what}`);
    if (!holds) {
        failed = true;
        console.error(`        found: ${JSON.stringify(found)}`);
    }
};

// --- The browser -----------------------------------------------------------------------------------------------------

const driver = spawn('chromedriver', ['--port=0'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, TMPDIR: work },
});
const driverPort = await new Promise((resolve, reject) => {
    let output = '';
    driver.on('error', reject);
    driver.on('exit', (code) => reject(new Error(`chromedriver ended with exit code ${code}: ${output}`)));
    driver.stdout.on('data', (data) => {
        output += data;
        const started = /started successfully on port (\d+)/.exec(output);
        if (started) resolve(started[1]);
    });
});

async function request(method, path, body) {
    const response = await fetch(`http://127.0.0.1:${driverPort}${path}`, {
        method,
        body: body && JSON.stringify(body),
        signal: AbortSignal.timeout(2 * PATIENCE),
    });
    const { value } = await response.json();
    if (value?.error) throw new Error(`${value.error}: ${value.message.split('\n')[0]}`);
    return value;
}

const profile = join(work, 'chromium');
mkdirSync(profile);
let session;
/** Chromium has a group of its own, and does not end with chromedriver. */
function endBrowser() {
    const pid = session?.capabilities['goog:processID'];
    if (pid) {
        try {
            process.kill(pid, 'SIGKILL');
        } catch {
            // It has ended already.
        }
    }
}
for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => {
        endBrowser();
        driver.kill();
        process.exit(1);
    });
}

const command = (method, path, body) => request(method, `/session/${session.sessionId}${path}`, body);
const script = (text, ...args) => command('POST', '/execute/sync', { script: text, args });
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Tries until it yields something; what it last yielded, when it never does. */
async function eventually(attempt) {
    const deadline = Date.now() + PATIENCE;
    for (;;) {
        const value = await attempt().catch((e) => (Date.now() < deadline ? undefined : Promise.reject(e)));
        if (value || Date.now() > deadline) return value;
        await sleep(100);
    }
}

/** The visible element of that selector and text: the page holds a hidden copy of some, for narrow screens. */
async function element(selector, text) {
    const found = await eventually(() =>
        script(
            `return [...document.querySelectorAll(arguments[0])].find(
                 (e) => e.checkVisibility({ visibilityProperty: true }) && (arguments[1] === null || e.innerText.trim() === arguments[1]))`,
            selector,
            text ?? null,
        ),
    );
    if (!found) throw new Error(`not on the page: ${selector}${text ? `, "${text}"` : ''}`);
    return `/element/${found[ELEMENT]}`;
}

/** Menus and dialogs move while they open: until then, they cannot be clicked. */
const click = (selector, text) =>
    eventually(async () => {
        await command('POST', `${await element(selector, text)}/click`, {});
        return true;
    });
const pageText = () => script('return document.querySelector("main").innerText');

async function screenshot(name) {
    await sleep(700); // for what still fades in
    writeFileSync(join(screenshots, `${name}.png`), Buffer.from(await command('GET', '/screenshot'), 'base64'));
}

// --- What the operator does ------------------------------------------------------------------------------------------

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

try {
    session = await request('POST', '/session', {
        capabilities: {
            alwaysMatch: {
                browserName: 'chrome',
                'goog:chromeOptions': {
                    args: [
                        '--headless',
                        '--no-sandbox',
                        '--disable-gpu',
                        '--disable-quic',
                        '--no-first-run',
                        '--disable-background-networking',
                        '--disable-component-update',
                        '--disable-sync',
                        '--window-size=1280,1000',
                        `--user-data-dir=${profile}`,
                    ],
                },
            },
        },
    });
    try {
        await operate();
    } catch (e) {
        report(false, 'the browser gets to the end', e.message);
        await screenshot('failed').catch(() => {});
    } finally {
        await command('DELETE', '').catch(endBrowser);
    }
} finally {
    driver.kill();
}
process.exitCode = failed ? 1 : 0;
