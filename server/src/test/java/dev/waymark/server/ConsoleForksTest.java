package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.PayloadJson;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Earlier versions of a thread in the console, the files of a thread, and forks. */
@Tag("full")
class ConsoleForksTest extends ConsoleCases {
    private static final String DOWNLOAD = "const download = page.waitForEvent('download');"
            + "await page.getByRole('button', { name: 'Download' }).click();"
            + "const stream = await (await download).createReadStream(); let text = '';"
            + "for await (const part of stream) text += part;"
            + "return (await download).suggestedFilename() + ' ' + text";

    @Test
    void timeline_comparesRehearsesAndForksEarlierVersions() throws Exception {
        String thread = ann.start("asker", "Book the box");
        openThread(thread);
        see("Which day?");
        browser.run("await page.locator('body').press('t')");
        see("Version 1");
        String command = texts(".rehearsal pre").get(0);
        assertThat(command)
                .startsWith(
                        "./waymark rehearse " + thread + " --from 1 --html " + thread + "-1.html --address 127.0.0.1:");
        browser.run("await context.grantPermissions(['clipboard-read', 'clipboard-write']);"
                + "await page.locator('.rehearsal').getByRole('button', { name: 'Copy' }).click();"
                + "await page.getByText('Copied').first().waitFor()");
        assertThat(browser.text("return page.evaluate(() => navigator.clipboard.readText())"))
                .isEqualTo(command);
        assertThatThreadIdsAreQuotedForTheShell();

        for (int left : List.of(1, 0)) {
            browser.run("await page.locator('.decision').first().getByLabel('Answer').fill('12A');"
                    + "await page.keyboard.press('Enter');"
                    + "await page.waitForFunction((left) => document.querySelectorAll('.decision').length === left, "
                    + left + ")");
        }
        see("Booked.");
        browser.run("await page.locator('.changes .added', { hasText: 'Booked.' }).waitFor();"
                + "await page.locator('.rehearsal pre', { hasText: '--from 3' }).waitFor()");
        assertAccessible();
        browser.run("await page.getByRole('slider', { name: 'Version' }).fill('2');"
                + "await page.locator('.rehearsal pre', { hasText: '--from 2' }).waitFor();"
                + "await page.getByRole('slider', { name: 'Version' }).fill('1')");
        see("Back to now");
        browser.run("await page.locator('.message.assistant', { hasText: 'Booked.' }).waitFor({ state: 'detached' })");
        assertThat(count(".decision")).isZero();
        browser.run(
                "const last = await page.getByLabel('Changes since').locator('option').last().getAttribute('value');"
                        + "await page.getByLabel('Changes since').selectOption(last);"
                        + "await page.locator('.changes .removed', { hasText: 'Booked.' }).waitFor()");
        browser.run("await page.getByLabel('Message (optional)').fill('Another way')");
        click("Fork");
        browser.run("await page.waitForFunction((old) => !location.hash.includes(old), '" + thread + "');"
                + "await page.locator('.message', { hasText: 'Another way' }).waitFor()");
        assertThat(ann.get("/v1/threads/" + thread).text("status")).isEqualTo("complete");
        assertThatTheAddressContainsPanelVersionAndFilters(thread);
    }

    @Test
    void panelOnAPhone_hasThePage_andTheVersionThatWasChosenIsBehindIt() throws Exception {
        browser.run("await fresh({ viewport: { width: 390, height: 760 } })");
        String thread = ann.start("keeper", "Keep");
        openThread(thread);
        see("Is that all?");
        click("Timeline");
        assertThat(browser.run("return page.locator('.side').boundingBox()").toString())
                .isEqualTo("{\"x\":0,\"y\":0,\"width\":390,\"height\":760}");
        browser.run("await page.getByRole('slider', { name: 'Version' }).fill('1');"
                + "await page.locator('.thread.past').waitFor()");
        assertAccessible();
        click("Close panel");
        click("Back to now");
        awaitChip("waiting for you");
        ann.post("/v1/threads/" + thread + "/answer", "{'callId':'tu_5','answer':'Yes'}");
    }

    @Test
    void commands_nameTheServer_andUsualSchedulesAreInWords() throws Exception {
        open("/", ANN);
        assertThat(browser.text("return page.evaluate(async () => {"
                        + "  const { session } = await import('/console/session.js');"
                        + "  const { commandLine } = await import('/console/format.js');"
                        + "  return ['127.0.0.1:7233', 'eu.example:7233'].flatMap((address) => ['default', 'team a'].map((namespace) => {"
                        + "    session.know({ ...session.caller, temporal: { address, namespace } });"
                        + "    return commandLine('show x'); })).join('\\n'); })"))
                .isEqualTo("./waymark show x\nTEMPORAL_NAMESPACE='team a' ./waymark show x\n"
                        + "./waymark show x --address eu.example:7233\n"
                        + "TEMPORAL_NAMESPACE='team a' ./waymark show x --address eu.example:7233");
        Map<String, String> words = Map.of(
                "* * * * *", "every minute",
                "*/15 * * * *", "every 15 minutes",
                "5 * * * *", "every hour, at minute 5",
                "0 */6 * * *", "every 6 hours, at minute 0",
                "0 9 * * *", "every day at 09:00",
                "30 8 * * 1-5", "Monday to Friday at 08:30",
                "0 9 * * mon,WED,7", "every Monday, Wednesday, Sunday at 09:00",
                "0 0 1 * *", "on day 1 of every month at 00:00");
        List<String> without = List.of(
                "*/7 * * * *",
                "0 */5 * * *",
                "0 0 31 * *",
                "0 9 1 * 1",
                "0 9 * 3 *",
                "@daily",
                "0 9 * * * 2026",
                "61 9 * * *",
                "0 9 * * 1#2",
                "0 9 * * 5L",
                "0 9 * * 1-3-5",
                "* 9 * * *",
                "0 9-17 * * *",
                "CRON_TZ=UTC 0 9 * * *",
                "");
        for (String cron :
                Stream.concat(words.keySet().stream(), without.stream()).toList()) {
            assertThat(browser.text("return page.evaluate(async (cron) => (await import('/console/schedules-page.js'))"
                            + ".cronWords(cron), '" + cron + "')"))
                    .as(cron)
                    .isEqualTo(words.getOrDefault(cron, ""));
        }
    }

    private void assertThatThreadIdsAreQuotedForTheShell() throws Exception {
        for (String id : List.of("trip", "trip/child-1", "a b", "$(touch x)", "it's", "x;y", "a\nb", "`id`", "")) {
            String word = browser.text("return page.evaluate(async (id) => (await import('/console/format.js'))"
                    + ".shellWord(id), " + PayloadJson.MAPPER.writeValueAsString(id) + ")");
            Process shell = new ProcessBuilder("sh", "-c", "printf %s " + word).start();
            assertThat(new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .as(word)
                    .isEqualTo(id);
        }
    }

    private void assertThatTheAddressContainsPanelVersionAndFilters(String thread) throws Exception {
        browser.run("await page.goto('" + server.address() + "/?filter=open&agent=asker&search=box&since=week#/thread/"
                + thread + "?panel=details&version=1')");
        see("Back to now");
        assertThat(texts(".side [aria-pressed=true]")).containsExactly("Details");
        assertThat(texts(".filters [aria-pressed=true]")).containsExactly("Open");
        browser.run("await page.getByLabel('Format').selectOption('messages')");
        assertThat(browser.text(DOWNLOAD)).contains("Book the box").doesNotContain("Booked.");
        browser.run("await page.getByLabel('Search threads').fill('royal box');"
                + "await page.waitForFunction(() => location.search.includes('royal'))");
        assertThat(browser.text("return page.url()"))
                .endsWith("/?filter=open&agent=asker&search=royal+box&since=week#/thread/" + thread
                        + "?panel=details&version=1");
        browser.run("await page.reload()");
        see("Back to now");
        assertThat(browser.text("return page.getByLabel('Search threads').inputValue()"))
                .isEqualTo("royal box");
        browser.run("await page.goto('" + server.address() + "/#/thread/" + thread + "?panel=details&version=99')");
        see("There is no version 99 of this thread. You see the newest.");
    }

    @Test
    void workspace_showsFiles_andAForkLinksToItsOrigin() throws Exception {
        String thread = ann.start("keeper", "Keep");
        open("/#/thread/" + thread + "?call=tu_2", ANN);
        browser.run("await page.locator('.call[open][data-call=tu_2]').waitFor(); await page.reload();"
                + "await page.locator('.call[open][data-call=tu_2]').waitFor()");
        see("Is that all?");
        click("Workspace");
        browser.run("await page.getByRole('button', { name: 'docs/NOTES.md' }).click();"
                + "await page.locator('.file-content h3', { hasText: 'Notes' }).waitFor()");
        assertThat(texts(".side .steps li")).containsExactly("✓ Look around");
        assertThat(texts(".file-content p")).containsExactly("new line");
        assertAccessible();
        browser.run("await page.locator('.file').getByLabel('Changes since').selectOption({ index: 1 });"
                + "await page.locator('.file .added', { hasText: 'new line' }).waitFor();"
                + "await page.locator('.file .removed', { hasText: 'old line' }).waitFor()");
        browser.run("await page.getByRole('button', { name: 'data.csv' }).click();"
                + "await page.locator('.file-content', { hasText: 'a,b' }).waitFor()");
        assertThat(browser.text(DOWNLOAD)).isEqualTo("data.csv a,b\n1,2\n");

        newUser();
        openThread(thread);
        browser.run("await page.getByRole('button', { name: 'Timeline' }).click();"
                + "await page.getByRole('slider', { name: 'Version' }).fill('1')");
        see("Back to now");
        assertThat(isTrue("page.getByRole('button', { name: 'Fork', exact: true }).evaluate((button) =>"
                        + " button.getBoundingClientRect().bottom <= innerHeight)"))
                .isTrue();
        assertThat(browser.text("return page.url()")).endsWith("?panel=timeline&version=1");
        browser.run("await page.getByText('Events that led to this version').click();"
                + "await page.locator('.events summary', { hasText: 'model-replied' }).first().click();"
                + "await page.locator('.events details[open] .json', { hasText: 'write_todos' }).waitFor()");
        assertAccessible();
        browser.run("await page.reload()");
        see("Back to now");
        browser.run("await page.getByLabel('Message (optional)').fill('Again')");
        click("Fork");
        // A panel is open, so the header is narrow.
        see("fork of Keep, version 1");
        assertThat(isTrue("page.locator('.who p').evaluate((words) => words.scrollWidth <= words.clientWidth)"))
                .isTrue();
        click("Details");
        browser.run("await page.locator('.side .facts', { hasText: 'Fork of' }).getByText('" + thread
                + "', { exact: true }).waitFor();"
                + "await page.locator('.thread-header').getByRole('link').last().click()");
        see("Back to now");
        awaitChip("then running");
        assertThat(browser.text("return page.url()")).contains(thread).endsWith("?panel=timeline&version=1");

        show(ann.post("/v1/threads/" + thread + "/fork", "{'at':'1'}").text("thread"));
        see("The fork begins here, in the middle of a turn.");
        click("Continue");
        browser.run("await page.locator('.decision').waitFor()");
    }

    /** A fork has its first messages from its origin, and one may have begun it. */
    @Test
    void messagesOfAFork_canBeEditedAndRepeatedAtOnce() throws Exception {
        openThread(ann.start("assistant", "One"));
        see("Turn 1: ");
        for (String message : List.of("Two", "Three")) {
            changeMessage(0, message);
            awaitAgain("Edit", 1);
            awaitAgain("Answer again", 1);
            assertThat(texts(".message.user")).containsExactly(message);
        }
        say("Four");
        see("Turn 2: ");
        for (String message : List.of("Five", "Six")) {
            changeMessage(1, message);
            awaitAgain("Edit", 2);
            awaitAgain("Answer again", 2);
            assertThat(texts(".message.user")).containsExactly("Three", message);
        }
        changeMessage(0, "Seven");
        awaitAgain("Edit", 1);
        assertThat(texts(".message.user")).containsExactly("Seven");
        assertThat(texts(".thread-header").toString()).contains("from its start");
    }

    /** The first message began the turn; the second arrived while the agent worked. */
    @Test
    void queuedMessageAndFailedTurn_canBeRepeatedInAFork() throws Exception {
        openThread(ann.start("prompted", "One"));
        say("Two");
        see("The model receives this at its next call.");
        for (String reply : List.of("First.", "Second.")) {
            model.says(reply);
            model.ends();
            see(reply);
        }
        see("Turn 2: ");
        changeMessage(1, "Three");
        model.says("Third.");
        model.ends();
        see("Third.");
        awaitAgain("Edit", 2);
        changeMessage(1, "Four");
        model.failsForGood();
        awaitChip("failed");
        assertAccessible();
        String failed = shown();
        browser.run("await page.locator('.end').getByRole('button', { name: 'Answer again in a new thread' }).click();"
                + "await page.waitForFunction((old) => !location.hash.includes(old), '" + failed + "')");
        see("fork of");
        browser.run("await page.waitForFunction(() => !document.querySelector('.message.queued'))");
        assertThat(texts(".message.user")).containsExactly("One", "Four");
        model.says("Fourth.");
        model.ends();
        see("Fourth.");
    }

    private void changeMessage(int index, String text) throws Exception {
        browser.run("const said = page.locator('.said:has(button)').nth(" + index + "); await said.hover();"
                + "await said.getByRole('button', { name: 'Edit in a new thread' }).click();"
                + "await page.getByLabel('Changed message').fill('" + text + "')");
        click("Continue in a new thread");
        browser.run("await page.locator('.message.user', { hasText: '" + text + "' }).waitFor()");
        see("fork of");
    }
}
