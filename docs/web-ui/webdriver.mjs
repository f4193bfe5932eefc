// A headless Chromium for the scripts beside this one.
// Speaks WebDriver with chromedriver itself, so that nothing needs to be installed for Node.js.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Those of the script that uses this: UI THREAD WORK-DIRECTORY SCREENSHOT-DIRECTORY, and more. */
const [, , work, screenshots] = process.argv.slice(2);
const PATIENCE = 20_000;
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

let failed = false;
export const report = (holds, what, found) => {
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

export const command = (method, path, body) => request(method, `/session/${session.sessionId}${path}`, body);
export const script = (text, ...args) => command('POST', '/execute/sync', { script: text, args });
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Tries until it yields something; what it last yielded, when it never does. */
export async function eventually(attempt) {
    const deadline = Date.now() + PATIENCE;
    for (;;) {
        const value = await attempt().catch((e) => (Date.now() < deadline ? undefined : Promise.reject(e)));
        if (value || Date.now() > deadline) return value;
        await sleep(100);
    }
}

/** The visible element of that selector and text: the page holds a hidden copy of some, for narrow screens. */
export async function element(selector, text) {
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
export const click = (selector, text) =>
    eventually(async () => {
        await command('POST', `${await element(selector, text)}/click`, {});
        return true;
    });
export const pageText = () => script('return document.querySelector("main").innerText');

export async function screenshot(name) {
    await sleep(700); // for what still fades in
    writeFileSync(join(screenshots, `${name}.png`), Buffer.from(await command('GET', '/screenshot'), 'base64'));
}

/** Opens a browser, does this in it, and ends with exit code 1 if something did not hold. */
export async function inBrowser(operate) {
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
}
