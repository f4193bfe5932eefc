// A browser that a test drives: each line of stdin is a function body, each line of stdout its result as JSON.
//   node browser.mjs DIRECTORY_OF_SCREENSHOTS
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const pictures = process.argv[2];
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync',
  ],
});

let context;
let page;
let problems = [];

/** A new user: nothing is stored. */
async function fresh(options = {}) {
  await context?.close();
  problems = [];
  context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB', ...options });
  // Long, because all tests together make a small machine slow.
  context.setDefaultTimeout(60_000);
  // Tests that go on to the next thread switch this on.
  await context.addInitScript(() => localStorage.setItem('waymark.opens-next', localStorage.getItem('waymark.opens-next') ?? 'off'));
  page = await context.newPage();
  page.on('pageerror', (error) => problems.push(String(error.stack ?? error)));
  page.on('console', (message) => {
    const refused = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !refused) problems.push(message.text());
  });
}

/** Opens the console, and signs in with a token if one is given. */
async function open(url, token) {
  await page.goto(url);
  if (token) {
    await page.getByLabel('Access token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }
  await page.locator('.layout').waitFor();
}

/** The findings of the accessibility checker that are serious or worse. */
async function axe() {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() =>
    window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }),
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html} ${node.failureSummary}`).join('; ')}`);
}

const picture = (name, options = {}) => page.screenshot({ path: `${pictures}/${name}.png`, ...options });

const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;
await fresh();
console.log(JSON.stringify({ result: 'ready' }));
for await (const line of createInterface({ input: process.stdin })) {
  try {
    const body = new AsyncFunction('page', 'context', 'open', 'fresh', 'axe', 'picture', 'problems', JSON.parse(line));
    const result = await body(page, context, open, fresh, axe, picture, problems);
    console.log(JSON.stringify({ result: result ?? null }));
  } catch (error) {
    await picture('failure').catch(() => {});
    console.log(JSON.stringify({ error: String(error.stack ?? error), problems }));
  }
}
await browser.close();
