package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static dev.waymark.server.ServedThreads.BOB;
import static dev.waymark.server.ServedThreads.OPERATOR;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.waymark.server.http.HttpSettings;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The console's list, threads and panels: each test is what a person does in one sitting. */
@Tag("full")
class ConsoleTest extends ConsoleCases {
    @Test
    void signIn_lastsInThisTabUntilTheTokenIsRevoked() throws Exception {
        browser.run("await page.goto('" + server.address() + "'); await page.getByLabel('Access token').fill('wrong');"
                + "await page.getByRole('button', { name: 'Sign in' }).click()");
        see("The server does not accept this token.");
        assertAccessible();
        open("/", ANN);
        assertThat(browser.text("return page.url() + JSON.stringify(await context.cookies())"
                        + " + await page.evaluate(() => JSON.stringify(localStorage))"))
                .doesNotContain(ANN)
                .endsWith("[]{\"waymark.opens-next\":\"off\"}");
        browser.run("await page.reload(); await page.getByRole('navigation', { name: 'Threads' }).waitFor();"
                + "await page.evaluate(() => { location.hash = '#/thread/nothing-here'; })");
        see("There is no such thread");
        see("it belongs to somebody else");
        assertAccessible();
        browser.run("await page.locator('main').getByRole('link', { name: 'Back to the list' }).click();"
                + "await page.locator('main').getByRole('link', { name: 'New thread' }).waitFor();"
                + "await page.getByRole('button', { name: 'Sign out' }).click();"
                + "await page.getByLabel('Access token').waitFor()");

        open("/", BOB);
        see("Start the first thread");
        assertAccessible();
        String known = Files.readString(threads.tokens());
        try {
            Files.writeString(threads.tokens(), "{\"tokens\":[]}");
            browser.run("await page.getByLabel('Access token').waitFor()");
        } finally {
            Files.writeString(threads.tokens(), known);
        }
    }

    private static final String THOUGHTS = ".messages details.quiet summary";
    private static final String STOPPED = "Stopped here. The model does not read this.";

    @Test
    void reply_streamsAlsoAfterReload_withoutTheWordsOfALostAttempt() throws Exception {
        openThread(ann.start("prompted", "Plan a trip"));
        model.thinks("First, I compare the trains. ");
        see("First, I compare the trains.");
        browser.run("await page.reload()");
        see("First, I compare the trains.");
        model.thinks("Then I look at the weather.");
        see("First, I compare the trains. Then I look at the weather.");
        model.says("Take the ", "night ");
        see("Take the night");
        assertThat(texts(THOUGHTS)).containsExactly("Thinking");
        browser.run("await page.reload()");
        see("Take the night");
        model.says("train.");
        see("Take the night train.");
        browser.run("await page.getByText('Thinking', { exact: true }).click()");
        see("First, I compare the trains. Then I look at the weather.");
        model.ends();
        see("Turn 1: ");
        assertThat(texts(THOUGHTS)).containsExactly("Thinking");
        assertAccessible();

        say("And the weather?");
        model.says("Wrong words ");
        see("Wrong words");
        model.fails();
        model.says("Right words.");
        see("Right words.");
        model.ends();
        see("Turn 2: ");

        say("Everywhere?");
        model.says("It rains in ");
        see("It rains in");
        click("Stop");
        see(STOPPED);
        browser.run("await page.reload()");
        see(STOPPED);
        assertThat(texts(".message.user")).containsExactly("Plan a trip", "And the weather?", "Everywhere?");
        List<String> replies = texts(".message.assistant");
        assertThat(replies).hasSize(3).startsWith("Take the night train.", "Right words.");
        assertThat(replies.get(2)).startsWith("It rains in");
        assertAccessible();
    }

    @Test
    void newThread_isStartedWithContext_andEditedInAFork() throws Exception {
        open("/#/new", OPERATOR);
        browser.run("await page.getByRole('radio', { name: /assistant/ }).waitFor()");
        assertThat(browser.text("return page.evaluate(() => document.activeElement.id)"))
                .isEqualTo("first-message");
        assertThat(isTrue("page.getByRole('radio', { name: /billing/ }).isVisible()"))
                .isFalse();
        browser.run("await page.getByText('Agents that work for others').click();"
                + "await page.getByRole('radio', { name: /billing/ }).waitFor();"
                + "await page.getByRole('radio', { name: /teller/ }).check();"
                + "await page.getByLabel('First message').fill('Look');"
                + "await page.getByText('Context for the tools').click();"
                + "await page.getByLabel('JSON object').fill('[1]')");
        click("Start");
        see("The context must be a JSON object.");
        browser.run("await page.getByLabel('JSON object')"
                + ".fill('{\"place\": \"Oslo\", \"number\": 12345678901234567890}')");
        assertAccessible();
        browser.run("await page.getByRole('button', { name: 'Start' }).focus(); await page.keyboard.press('Enter')");
        see("Turn 1: ");
        browser.run("await page.waitForFunction(() => document.activeElement.matches('.messages'))");
        String thread = shown();

        browser.run("const said = page.locator('.said').first(); await said.hover();"
                + "await said.getByRole('button', { name: 'Edit in a new thread' }).click();"
                + "await page.keyboard.press('Control+A'); await page.keyboard.type('Look again')");
        click("Continue in a new thread");
        see("fork of");
        see("Turn 1: ");
        assertThat(texts(".message.user")).containsExactly("Look again");
        assertThat(texts(".message.assistant").toString()).contains("Oslo", "12345678901234567890");
        browser.run("await page.getByText('fork of Look, from its start').waitFor()");
        String fork = shown();
        assertThat(ann.as(OPERATOR)
                        .get("/v1/threads/" + fork)
                        .body()
                        .at("/forkedFrom/thread")
                        .asText())
                .isEqualTo(thread);
        // The call is safe to repeat, so that nothing is asked.
        click("Answer again in a new thread");
        browser.run("await page.waitForFunction((fork) => !location.hash.endsWith(fork), '" + fork + "')");
        see("Turn 1: ");
    }

    @Test
    void thread_isStartedClosedAndContinued_anotherStoppedAndCancelled() throws Exception {
        open("/", ANN);
        browser.run("await page.getByRole('link', { name: 'New thread' }).first().click();"
                + "await page.getByRole('radio', { name: /assistant/ }).check();"
                + "await page.getByLabel('First message').fill('Hello from the console')");
        click("Start");
        see("Hello.");
        assertThat(texts(".threads a[aria-current]").toString()).contains("Hello from the console", "assistant");
        String thread = shown();
        browser.run("await page.route('**/say', (route) => route.abort())");
        say("Again");
        browser.run("await page.locator('.composer .problem', { hasText: 'cannot be reached' }).waitFor()");
        ann.post("/v1/threads/" + thread + "/say", "{'message':'By another way'}");
        browser.run("await page.locator('.composer .problem').waitFor({ state: 'hidden' })");
        assertThat(browser.text("return page.getByLabel('Message', { exact: true }).inputValue()"))
                .isEqualTo("Again");
        browser.run("await page.unroute('**/say')");

        click("Details");
        click("Workspace");
        see("This thread has no files.");
        click("Details");
        click("Close …");
        click("Close thread");
        see("This thread is closed.");
        click("Continue in a new thread");
        awaitChip("complete");

        String asking = ann.start("asker", "Book");
        ann.awaitPending(asking, 2);
        show(asking);
        see("Which seat?");
        click("Stop");
        awaitChip("stopped");
        // The panel with details stays open when another thread is shown, and its question during updates.
        String cancelled = ann.start("asker", "Book");
        ann.awaitPending(cancelled, 2);
        show(cancelled);
        see("Which seat?");
        click("Cancel …");
        ann.post("/v1/threads/" + cancelled + "/answer", "{'callId':'tu_2','answer':'12A'}");
        browser.run(
                "await page.locator('.decision:not(.decided)', { hasText: 'Which seat?' }).waitFor({ state: 'detached' })");
        click("Cancel thread");
        see("This thread is closed.");
    }

    @Test
    void subagents_formATree_andTurnsShowTheirCosts() throws Exception {
        String thread = ann.start("boss", "Go");
        openThread(thread);
        see("Approval needed");
        click("Details");
        browser.run("await page.locator('.tree .tree a, .tree ul a').waitFor()");
        assertThat(texts(".details").toString()).contains("$0.0045 of $1.50", "boss", "billing", "of 100,000");
        assertAccessible();
        click("Approve");
        see("The clerk says: Charged.");
        see("Turn 1: ");
        assertThat(texts(".turn")).singleElement().asString().matches("Turn 1: [\\d.]+ s, 1,100 tokens, \\$0\\.0045");
        assertThat(texts(".call[data-call=tu_7] > summary").toString()).containsPattern("[\\d.]+ s");
        say("And now?");
        see("Turn 2: ");

        browser.run("const said = page.locator('.said', { hasText: 'And now?' });"
                + "await said.hover(); await said.getByRole('button', { name: 'Edit in a new thread' }).click();"
                + "await page.getByLabel('Changed message').fill('And then?')");
        assertAccessible();
        click("Continue in a new thread");
        see("fork of");
        browser.run("await page.locator('.message.user', { hasText: 'And then?' }).waitFor()");
        see("Turn 2: ");
        assertThat(texts(".message.user")).containsExactly("Go", "And then?");
        assertThat(texts(".thread-header").toString()).contains("$0, and $0.0045 before this thread");
        assertThat(texts(".turn")).singleElement().asString().endsWith(" tokens, $0");
        browser.run("await page.locator('.threads li:has(.title .chip)', { hasText: 'And then?' })"
                + ".getByText('boss · complete').waitFor()");
        assertThat(texts(".threads li:has(.latest:text-is('And now?')) .about")).containsExactly("boss · complete");

        show(thread);
        see("Turn 2: ");
        browser.run("const last = page.locator('.reply').last(); await last.hover();"
                + "await last.getByRole('button', { name: 'Answer again in a new thread' }).click()");
        see("fork of");
        see("Turn 2: ");
        assertThat(texts(".message.user")).containsExactly("Go", "And now?");
        assertThat(ann.list(thread, "messages").toString()).contains("And now?").doesNotContain("And then?");

        show(thread);
        browser.run("await page.locator('.tree ul a').click();"
                + "await page.locator('.thread-header .agent-name', { hasText: 'billing' }).waitFor()");
        see("Works for");
    }

    @Test
    void details_haveModelsAndLinks_andOperatorsRaiseLimits() throws Exception {
        ApiServer linked = threads.serve(HttpSettings.at("127.0.0.1", 0)
                .withLimits(1_000, 200, 1_000)
                .withWebUi(Optional.of("http://127.0.0.1:8233/")));
        String thread = ann.start("served", "Go");
        browser.run("await open('" + linked.address() + "/#/thread/" + thread + "?panel=details', '" + ANN + "')");
        see("From the spare model.");
        see("scripted:spare.script.yaml");
        see(": 1 answer");
        assertThat(browser.text("return page.getByRole('link', { name: 'Open in the Web UI' }).getAttribute('href')"))
                .isEqualTo("http://127.0.0.1:8233/namespaces/default/workflows/" + thread + "/"
                        + ann.get("/v1/threads/" + thread).text("runId") + "/history");

        HttpCaller operator = ann.as(OPERATOR);
        open("/#/thread/" + operator.start("boss", "Go"), OPERATOR);
        see("Waits for somebody who may decide.");
        click("Details");
        see("Model calls");
        assertThat(isTrue("await page.getByRole('link', { name: 'Web UI' }).count() === 0"))
                .isTrue();
        browser.run("await page.getByText('Raise limits').click(); await page.getByLabel('Dollars').fill('2.5')");
        click("Raise");
        see("of $2.50");
    }

    /** Holds the answers to requests for the list, until `pass()`. */
    private static final String HELD_LISTS = "globalThis.pass = undefined;"
            + "await page.route(/\\/v1\\/threads\\?/, async (route) => {"
            + "  await new Promise((resolve) => { globalThis.pass = resolve; }); await route.continue(); });";

    private static final String HELD = "while (globalThis.pass === undefined) await page.waitForTimeout(20);"
            + "return [await page.locator('.threads[aria-busy=true] li').count() > 0,"
            + "  await page.locator('.threads').evaluate((list) => getComputedStyle(list, '::before').height),"
            + "  await page.locator('.list-note').innerText()].join(' ')";
    private static final String PASS = "pass(); globalThis.pass = undefined;";

    @Test
    void list_isOneStream_andFilteredByTheServer() throws Exception {
        open("/", ANN);
        see("New thread");
        browser.run("globalThis.lists = []; page.on('request', (request) => {"
                + "  if (/\\/v1\\/threads(\\?|$)/.test(request.url())) lists.push(request.url()); })");
        ann.start("assistant", "A needle that is listed");
        browser.run("await page.locator('.threads a', { hasText: 'A needle that is listed' }).waitFor();"
                + "await page.waitForTimeout(6000)");
        assertThat(browser.run("return lists")).isEmpty();

        ann.start("assistant", "Needle 4711 in the haystack");
        ann.start("assistant", "Straw");
        String failed = ann.start("prompted", "Needle that fails");
        browser.run("await page.getByLabel('Search threads').fill('needle');"
                + "await page.waitForFunction(() => document.querySelectorAll('.group:not(.shown) li').length === 3)");
        assertAccessible();
        browser.run("await page.getByLabel('Agent').selectOption('prompted');"
                + "await page.waitForFunction(() => document.querySelectorAll('.group:not(.shown) li').length === 1);"
                + "await page.getByLabel('Changed').selectOption('Since yesterday');"
                + "await page.getByRole('button', { name: 'Failed' }).click()");
        see("No failed thread matches.");
        model.failsForGood();
        // The stream of the list brings the thread as soon as it has failed.
        browser.run("await page.locator('.threads a', { hasText: 'Needle that fails' }).click()");
        awaitChip("failed");
        assertThat(shown()).isEqualTo(failed);

        newUser();
        browser.run(HELD_LISTS);
        open("/", ANN);
        assertThat(browser.text(HELD)).as("outlined at first").isEqualTo("false 320px Reading …");
        assertAccessible();
        browser.run(PASS + "await page.locator('.threads li').first().waitFor();"
                + "await page.getByLabel('Search threads').fill('nothing has these words')");
        assertThat(browser.text(HELD)).as("dimmed afterwards").isEqualTo("true auto Reading …");
        browser.run(PASS + "await page.getByText('No thread matches.').waitFor();"
                + "await page.getByLabel('Search threads').fill('needle that is')");
        assertThat(browser.text(HELD)).isEqualTo("false 320px Reading …");
        browser.run("pass(); await page.locator('.threads a', { hasText: 'A needle that is listed' }).waitFor()");
        assertThat(texts(".list-note")).containsExactly("");
    }

    @Test
    void showMore_skipsPagesWithoutNewThreads() throws Exception {
        String thread = ann.start("assistant", "The first of the pages");
        openThread(thread);
        see("Hello.");
        String list =
                ann.get("/v1/threads?search=" + thread).body().path("threads").toString();
        String older = list.replace(thread, "th_older").replace("The first of the pages", "An older one");
        browser.run("const list = JSON.parse(" + quoted(list) + "); const older = JSON.parse(" + quoted(older) + ");"
                + "const event = { type: 'threads', threads: list, next: 'one', waiting: [], waitingCount: 0 };"
                + "const pages = { one: { threads: list, next: 'two' }, two: { threads: older, next: 'three' }, three: { threads: [] } };"
                + "await page.route(/\\/v1\\/threads\\?/, (route) => {"
                + "  const after = new URL(route.request().url()).searchParams.get('after');"
                + "  return after === null"
                + "    ? route.fulfill({ contentType: 'text/event-stream', body: `event: threads\\ndata: ${JSON.stringify(event)}\\n\\n` })"
                + "    : route.fulfill({ json: pages[after] }); });"
                + "await page.getByRole('button', { name: 'Open', exact: true }).click();"
                + "await page.getByRole('button', { name: 'Search older threads' }).click()");

        see("An older one");
        browser.run("await page.getByRole('button', { name: 'Search older threads' }).click();"
                + "await page.locator('button.more').waitFor({ state: 'hidden' })");
    }

    @Test
    void closedInstance_pageContinuesWithItsSuccessor() throws Exception {
        ApiServer first = threads.serve();
        int port = first.port();
        String thread = ann.start("prompted", "Hi");
        browser.run("await open('" + first.address() + "/#/thread/" + thread + "', '" + ANN + "')");
        model.says("One ");
        see("One");
        first.close();
        see("Connection lost");
        model.says("two ");
        threads.serve(HttpSettings.at("127.0.0.1", port).withLimits(1_000, 200, 1_000));
        see("One two");
        model.ends();
        browser.run("await page.locator('.message.assistant:not(.live)').waitFor()");

        assertThat(browser.run("return page.locator('.message').allInnerTexts()")
                        .toString())
                .isEqualTo("[\"Hi\",\"One two \"]");
        browser.run("await page.locator('.banner').waitFor({ state: 'hidden' }); problems.length = 0");
    }

    @Test
    void shortcutsPhoneAndDarkMode_areAccessible() throws Exception {
        String older = ann.start("assistant", "Older");
        openThread(older);
        see("Turn 1: ");
        String newer = ann.start("assistant", "Newer");
        show(newer);
        see("Turn 1: ");
        browser.run("await page.locator('body').press('?'); await page.getByText('Keyboard shortcuts').waitFor()");
        assertAccessible();
        browser.run("await page.keyboard.press('Escape');"
                + "await page.getByText('Keyboard shortcuts').waitFor({ state: 'hidden' });"
                + "await page.locator('.threads a[aria-current]').waitFor();"
                + "await page.locator('body').press('j');"
                + "await page.waitForFunction((older) => location.hash.includes(older), '" + older + "')");

        browser.run("await fresh({ colorScheme: 'dark', viewport: { width: 390, height: 760 } })");
        String asked = ann.start("chief", "Close the evening");
        ann.awaitPending(asked, 4);
        openThread(asked);
        see("Runs with exactly these arguments");
        assertAccessible();
        assertThatThePageFits();
        browser.run("const card = page.locator('.decision', { hasText: 'Sends a mail' });"
                + "await card.getByRole('button', { name: 'Edit arguments' }).click();"
                + "await card.getByLabel('to', { exact: true }).fill('bob')");
        assertThat(isTrue("page.evaluate(() => {"
                        + "  const boxes = ['.fields', 'textarea.mono', '.changes', 'form > label'].map((part) =>"
                        + "    document.querySelector(`.controls ${part}`).getBoundingClientRect());"
                        + "  const [item, tools] = ['.said', '.said > .tools'].map((part) =>"
                        + "    document.querySelector(part).getBoundingClientRect());"
                        + "  return boxes.slice(1).every((box, i) => box.top >= boxes[i].bottom)"
                        + "    && tools.bottom <= item.bottom; })"))
                .isTrue();
        browser.run("await page.getByRole('link', { name: 'Back to the list' }).click();"
                + "await page.getByLabel('Search threads').waitFor()");
        assertAccessible();
        assertThatThePageFits();
    }

    /** Parts of the page scroll; the page itself never does. */
    private void assertThatThePageFits() throws Exception {
        assertThat(browser.run("return page.evaluate(() => {"
                                + "  document.getElementById('announcements').textContent = 'a long announcement '.repeat(99);"
                                + "  const { scrollWidth, scrollHeight } = document.documentElement;"
                                + "  return scrollWidth <= innerWidth && scrollHeight <= innerHeight; })")
                        .booleanValue())
                .isTrue();
    }

    /** Uses only the keyboard to start a thread, answer, approve with a change, and fork a failed thread. */
    @Test
    void everyAction_worksWithTheKeyboardOnly() throws Exception {
        String failed = ann.start("prompted", "A task that failed yesterday");
        model.failsForGood();
        ann.start("asker", "Book the royal box");
        browser.run("await page.goto('" + server.address() + "'); await page.getByLabel('Access token').waitFor();"
                + KEYBOARD + "await page.keyboard.type('" + ANN + "'); await page.keyboard.press('Enter');"
                + "await page.locator('.threads li').first().waitFor();"
                + "await page.keyboard.press('n'); await focusOn('First message');"
                + "await page.keyboard.type('Pay the bill'); await tabTo('radio', 'asker');"
                + "await choose('cashier'); await tabTo('button', 'Start'); await page.keyboard.press('Enter');");
        see("Runs with exactly these arguments");
        browser.run(KEYBOARD + "await tabTo('button', 'Edit arguments');"
                + "await page.keyboard.press('Enter'); await tabTo('textbox', 'Arguments');"
                + "await page.keyboard.press('Control+A'); await page.keyboard.type('{\"usd\": 60}');"
                + "await tabTo('button', 'Approve with these arguments'); await page.keyboard.press('Enter');");
        see("Refunded.");
        browser.run(KEYBOARD + "await page.evaluate(() => document.activeElement.blur());"
                + "await page.keyboard.press('/'); await page.keyboard.type('royal box');"
                + "await page.waitForFunction(() => document.querySelectorAll('.group:not(.shown) li').length === 1);"
                + "await tabTo('link', 'Book the royal box'); await page.keyboard.press('Enter');");
        see("Which day?");
        browser.run(
                "await page.keyboard.press('w'); await page.keyboard.press('Enter'); await page.keyboard.type('Friday');"
                        + "await page.keyboard.press('Escape'); await page.locator('body').press('Escape')");
        assertThat(browser.text("return page.locator('.decision').first().getByLabel('Answer').inputValue()"))
                .isEqualTo("Friday");
        browser.run("await page.keyboard.press('Enter');"
                + "await page.waitForFunction(() => document.querySelectorAll('.decision').length === 1)");
        assertThat(browser.text("return page.evaluate(() => document.activeElement.getAttribute('class'))"))
                .contains("decision question");
        browser.run("await page.keyboard.press('Enter'); await page.keyboard.type('12A');"
                + "await page.keyboard.press('Enter')");
        see("Booked.");
        browser.run("await page.waitForFunction(() => document.activeElement.matches('.messages'));" + KEYBOARD
                + "await page.evaluate(() => document.activeElement.blur()); await page.keyboard.press('/');"
                + "await page.keyboard.press('Control+A'); await page.keyboard.type('failed yesterday');"
                + "await page.evaluate(() => document.activeElement.blur()); await page.keyboard.press('4');"
                + "await page.waitForFunction(() => document.querySelectorAll('.group:not(.shown) li').length === 1);"
                + "await tabTo('link', 'A task that failed'); await page.keyboard.press('Enter');");
        awaitChip("failed");
        browser.run(KEYBOARD + "await page.keyboard.press('d'); await page.getByText('Model calls').waitFor();"
                + "await page.keyboard.press('t'); await page.getByText('Version 1').first().waitFor();"
                + "await page.getByText('The failure is part of this version').waitFor();"
                + "await tabTo('textbox', 'Message (optional)'); await page.keyboard.type('Try another way');"
                + "await tabTo('button', 'Fork'); await page.keyboard.press('Enter');"
                + "await page.waitForFunction((old) => !location.hash.includes(old), '" + failed + "');");
        see("Try another way");
        model.says("It worked.");
        model.ends();
        see("It worked.");
    }

    /** Moves the focus with the Tab key until it reaches an element. */
    private static final String KEYBOARD = """
            const focused = () => page.evaluate(() => {
              const { tagName, type, labels, ariaLabel, textContent } = document.activeElement;
              const role = { A: 'link', BUTTON: 'button', TEXTAREA: 'textbox', SELECT: 'combobox' }[tagName] ?? type;
              const label = ariaLabel ?? (labels?.length > 0 ? labels[0].textContent : textContent);
              return { role, label: label.trim() };
            });
            const tabTo = async (role, name) => {
              const seen = [];
              for (let i = 0; i < 150; i++) {
                const at = await focused();
                if (at.role === role && (at.label === name || (role !== 'button' && at.label.startsWith(name)))) return;
                seen.push(`${at.role} ${at.label}`);
                await page.keyboard.press('Tab');
              }
              throw new Error(`the keyboard does not reach ${role} ${name}: ${seen.join(', ')}`);
            };
            const focusOn = async (name) => page.waitForFunction(
              (label) => document.activeElement.labels?.[0]?.textContent === label, name);
            const choose = async (name) => {
              for (let i = 0; i < 40 && !(await focused()).label.startsWith(name); i++) await page.keyboard.press('ArrowDown');
            };
            """;

    /** Without authentication, as in {@code dev}: the browser sends the requests, and the server refuses them. */
    @Test
    void pageOfAnotherOrigin_cannotReadOrDecide() throws Exception {
        ApiServer unchecked = threads.serveUnchecked(HttpSettings.at("127.0.0.1", 0));
        HttpCaller anybody = HttpCaller.of(unchecked, "").asNobody();
        String thread = anybody.start("billing", "Pay");
        await().atMost(Duration.ofMinutes(1))
                .until(() -> anybody.list(thread, "pending").size() == 1);
        String digest = anybody.list(thread, "pending").at("/0/argsDigest").asText();
        String results = browser.run(
                        """
                await page.goto('http://localhost:%d/page');
                return page.evaluate(async ([url, body]) => {
                  const send = (path, options) => fetch(url + path, options)
                    .then((response) => response.type, (failure) => failure.name);
                  return [
                    await send('/approve', { method: 'POST', mode: 'no-cors', body }),
                    await send('/approve', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body }),
                    await send('/stop', { method: 'POST', mode: 'no-cors' }),
                    await send('/cancel', { method: 'POST', mode: 'no-cors' }),
                    await send('/conversation', {}),
                  ];
                }, ['%s/v1/threads/%s', '{"callId":"tu_1","argsDigest":"%s"}'])
                """.formatted(unanswering.getAddress().getPort(), unchecked.address(), thread, digest))
                .toString();
        browser.run("problems.length = 0");

        assertThat(results).isEqualTo("[\"opaque\",\"TypeError\",\"opaque\",\"opaque\",\"TypeError\"]");
        assertThat(anybody.list(thread, "pending").at("/0/argsDigest").asText()).isEqualTo(digest);
        assertThat(anybody.get("/v1/threads/" + thread).text("status")).isEqualTo("interrupted");
    }
}
