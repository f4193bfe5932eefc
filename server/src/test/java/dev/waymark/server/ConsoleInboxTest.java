package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The console as an inbox: people decide one request after the other, or several that are alike together. */
@Tag("full")
class ConsoleInboxTest extends ConsoleCases {
    private static final String ON_A_CARD =
            "await page.waitForFunction(() => document.activeElement.matches('.decision'));";
    /** Longer than a card ignores keys and clicks that were meant for another one. */
    private static final String A_MOMENT = "await page.waitForTimeout(1200);";

    @Test
    void decisions_openTheNextThread_andAKeyDecidesOnce() throws Exception {
        List<String> waiting = List.of(priced("A chair"), priced("A table"), priced("A lamp"));
        openInbox();
        browser.run("await page.locator('.group.yours .count', { hasText: '3' }).waitFor()");
        assertThat(browser.text("return page.title()")).isEqualTo("(3) Waymark");
        assertAccessible();
        browser.run("await page.keyboard.press('w');" + ON_A_CARD + "await page.keyboard.press('a');"
                + "await page.waitForTimeout(300)");
        assertThat(shown()).isEqualTo(waiting.get(0));
        assertThat(ann.list(waiting.get(0), "pending"))
                .as("a key that was pressed too early decides nothing")
                .hasSize(1);
        browser.run(A_MOMENT + "await page.keyboard.down('a'); await page.keyboard.down('a');"
                + "await page.keyboard.up('a'); await page.keyboard.press('a');" + awaitNext("A table")
                + awaitShown(waiting.get(1)) + ON_A_CARD);
        assertThat(call(waiting.get(0), "tu_1").at("/approval/approved").booleanValue())
                .isTrue();
        assertThat(ann.list(waiting.get(1), "pending")).hasSize(1);
        assertThat(browser.text("return page.title()")).isEqualTo("(2) A table · Waymark");

        browser.run("await page.evaluate(() => { const real = setTimeout;"
                + "  globalThis.setTimeout = (run, millis) => real(run, millis === 3000 ? 10000 : millis); })");
        browser.run(A_MOMENT + "await page.keyboard.press('x'); await page.keyboard.type('Too dear');"
                + "await page.keyboard.press('Enter');" + awaitNext("A lamp")
                + "await page.locator('.next').hover(); await page.waitForTimeout(10500)");
        assertAccessible();
        click("Stay here");
        assertThat(shown()).isEqualTo(waiting.get(1));
        browser.run("await page.keyboard.press('w');" + awaitShown(waiting.get(2)));
        assertThat(call(waiting.get(1), "tu_1").at("/approval/reason").asText()).isEqualTo("Too dear");

        click("Deny");
        browser.run("await page.keyboard.type('But why')");
        approve(waiting.get(2));
        see("Approved by ann (verified)");
        see("You had written:");
        assertThat(texts(".decision pre")).containsExactly("But why");
        assertAccessible();
        click("Hide");
        browser.run("await page.locator('.decision').waitFor({ state: 'detached' });"
                + "await page.locator('.group.yours').waitFor({ state: 'detached' })");
        assertThat(texts(".group.today .title")).contains("A chair", "A table", "A lamp");
    }

    @Test
    void requestsThatAreAlike_areDecidedTogether_andWhatChangedIsLeftOut() throws Exception {
        List<String> alike = List.of(priced("First"), priced("Second"), priced("Third"));
        String other = ann.start("cashier", "Another tool");
        ann.awaitPending(other, 1);
        openInbox();
        browser.run("await page.locator('.threads a', { hasText: 'First' }).click();"
                + "await page.getByRole('link', { name: 'Decide with 2 others …' }).click();"
                + "await page.getByLabel('Choose all').check();"
                + "await page.getByRole('button', { name: 'Approve 3' }).waitFor()");
        assertThat(texts(".alike tbody tr"))
                .hasSize(3)
                .allSatisfy(row -> assertThat(row).contains("chair", "1250"));
        assertAccessible();
        approve(alike.get(1));
        click("Approve 3");
        see("Approved: 2 of 3. 1 left out: see below.");
        assertThat(texts(".alike tbody tr").get(1)).contains("Second").doesNotContain("Approved");
        for (String thread : alike) {
            ann.awaitPending(thread, 0);
            await().atMost(Duration.ofMinutes(1))
                    .until(() -> call(thread, "tu_1").path("status").asText().equals("completed"));
        }
        assertThat(ann.list(other, "pending")).hasSize(1);
        click("Go on");
        see("Runs with exactly these arguments");
        assertThat(shown()).isEqualTo(other);
        approve(other);
    }

    @Test
    void versionsAndPanels_areStepsOfTheBrowser_andALinkShowsNothingElseFirst() throws Exception {
        String thread = openKeeper("Keep");
        click("Timeline");
        browser.run("await page.getByRole('slider', { name: 'Version' }).fill('1')");
        see("Back to now");
        browser.run("await page.goBack(); await page.getByText('Back to now').waitFor({ state: 'detached' });"
                + "await page.goBack(); await page.locator('.side').waitFor({ state: 'hidden' });"
                + "await page.goForward(); await page.locator('.side').waitFor();"
                + "await page.goForward()");
        see("Back to now");

        browser.run("await page.route('**/versions', async (route) => {"
                + "  await new Promise((resolve) => { globalThis.pass = resolve; }); await route.continue(); });"
                + "await page.reload(); while (globalThis.pass === undefined) await page.waitForTimeout(20);"
                + "await page.waitForTimeout(500)");
        assertThat(texts(".messages > *")).containsExactly("Reading the thread …");
        browser.run("pass(); await page.getByText('Back to now').waitFor()");
        assertThat(browser.text("return page.url()")).endsWith("?panel=timeline&version=1");
        ann.post("/v1/threads/" + thread + "/answer", "{'callId':'tu_5','answer':'Yes'}");
    }

    @Test
    void words_areFoundInALongThread_alsoInResults() throws Exception {
        String thread = openKeeper("Find me");
        browser.run("await page.evaluate(() => document.activeElement.blur()); await page.keyboard.press('Shift+F');"
                + "await page.keyboard.type('new line'); await page.keyboard.press('Enter')");
        see("1 of 1");
        assertThat(texts(".found[open]").toString()).contains("write_file", "new line");
        assertThat(texts(".outline button")).containsExactly("Find me");
        assertAccessible();
        browser.run("await page.keyboard.press('Escape'); await page.locator('.finder').waitFor({ state: 'hidden' })");
        ann.post("/v1/threads/" + thread + "/answer", "{'callId':'tu_5','answer':'Yes'}");
    }

    private String openKeeper(String message) throws Exception {
        String thread = ann.start("keeper", message);
        ann.awaitPending(thread, 1);
        openThread(thread);
        see("Is that all?");
        return thread;
    }

    private String priced(String message) throws Exception {
        String thread = ann.start("pricer", message);
        ann.awaitPending(thread, 1);
        return thread;
    }

    /** As a user for whom the next thread opens after a decision. */
    private void openInbox() throws Exception {
        open("/", ANN);
        browser.run("await page.evaluate(() => localStorage.setItem('waymark.opens-next', 'on'))");
    }

    private static String awaitNext(String title) {
        return "await page.locator('.next', { hasText: 'Opens next: " + title + "' }).waitFor();";
    }

    private static String awaitShown(String thread) {
        return "await page.waitForFunction((thread) => location.hash.includes(thread), '" + thread + "');";
    }

    private void approve(String thread) throws Exception {
        JsonNode item = ann.list(thread, "pending").path(0);
        ann.post(
                "/v1/threads/" + thread + "/approve",
                "{'callId':'" + item.path("callId").asText() + "','argsDigest':'"
                        + item.path("argsDigest").asText() + "'}");
    }
}
