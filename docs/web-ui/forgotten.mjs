// What an operator sees of encrypted threads in the Web UI with `waymark codec`: one that can be read, and a forgotten one.
// Called by check.sh:  node forgotten.mjs UI READABLE WORK-DIRECTORY SCREENSHOT-DIRECTORY FORGOTTEN CODEC TOKEN WORDS
import { click, command, element, eventually, inBrowser, pageText, report, script } from './webdriver.mjs';

const [ui, readable, , , forgotten, codec, token, words] = process.argv.slice(2);

/** The page of a thread, once it has this. */
async function pageWith(thread, part) {
    await command('POST', '/url', { url: `${ui}/namespaces/default/workflows/${thread}` });
    return (await eventually(async () => {
        const text = await pageText();
        return text.includes(part) && text;
    })) || pageText();
}

await inBrowser(async () => {
    await command('POST', '/url', { url: `${codec}/` });
    await command('POST', `${await element('input')}/value`, { text: token });
    await click('button', 'Sign in');
    await eventually(async () => (await script('return document.querySelector("input") === null')));

    // As the dialog behind the glasses icon stores them.
    await command('POST', '/url', { url: ui });
    await eventually(async () => {
        await script(
            'localStorage.setItem("endpoint", JSON.stringify(arguments[0]));' +
                'localStorage.setItem("includeCredentials", "true");' +
                'localStorage.setItem("overrideRemoteCodecConfiguration", "true");',
            codec,
        );
        return true;
    });

    const open = await pageWith(readable, words);
    report(open.includes(words), `the page of "${readable}" shows its words`, open);
    const line = `thread ${forgotten} was forgotten on `;
    const closed = await pageWith(forgotten, line);
    report(closed.includes(line), `the page of "${forgotten}" says that the thread was forgotten`, closed);
    report(closed.includes('Terminated'), 'and that it is terminated', closed);
    const whole = await script('return document.documentElement.textContent');
    report(!whole.includes(words), 'nothing on it is from the conversation', whole);
});
