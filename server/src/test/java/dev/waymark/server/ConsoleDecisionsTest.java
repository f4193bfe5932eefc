package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.worker.server.DevServer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the console shows of requests to people, and what people can do about them. */
@Tag("full")
class ConsoleDecisionsTest extends ConsoleCases {
    @Override
    DevServer temporal() throws Exception {
        return TemporalOnPostgres.startIfPossible();
    }

    private String openChief() throws Exception {
        String thread = ann.start("chief", "Close the evening");
        ann.awaitPending(thread, 4);
        openThread(thread);
        browser.run("await page.locator('.decision').nth(3).waitFor();"
                + "await page.locator('.path li').nth(6).waitFor()");
        return thread;
    }

    @Test
    void requestsOfSubagents_sayWhoseTheyAre_withTheTaskOfEach() throws Exception {
        openChief();

        List<String> paths = new ArrayList<>();
        browser.run("return page.locator('.path').evaluateAll((paths) => paths.map((path) =>"
                        + " [...path.children].map((step) => step.textContent).join(' > ')))")
                .forEach(path -> paths.add(path.asText()));
        assertThat(paths)
                .containsExactlyInAnyOrder(
                        "chief > billing: Charge table nine",
                        "chief > billing: Charge table four",
                        "chief > boss: Settle the rest > billing: Charge the card");
        assertThat(browser.run("return axe()")).isEmpty();
        browser.run("await page.locator('.decision', { hasText: 'table four' }).getByRole('button', { name: 'Deny' })"
                + ".click();"
                + "await page.locator('.decision', { hasText: 'table four' }).getByRole('button', { name: 'Deny' })"
                + ".click();"
                + "await page.locator('.decision', { hasText: 'table four' }).waitFor({ state: 'detached' })");
        assertThat(texts(".decision .path")).hasSize(2);
    }

    @Test
    void request_saysWhatItWaitsFor_sinceWhenAndUntilWhen_andItsIdentifiersAreFolded() throws Exception {
        openChief();

        String card = browser.text("return page.locator('.decision', { hasText: 'Sends a mail' }).innerText()");
        assertThat(card)
                .containsPattern(
                        "Waits for a decision by somebody with the role “decide”, since .+, until .+\\. Then it"
                                + " is denied\\.")
                .doesNotContain("Digest", "tu_4");
        browser.run("await page.locator('.decision', { hasText: 'Sends a mail' }).getByText('Identifiers').click()");
        assertThat(browser.text("return page.locator('.decision', { hasText: 'Sends a mail' }).innerText()"))
                .contains("Digest", "tu_4");
    }

    @Test
    void rules_areNamedWithTheirReasons_beforeAndAfter() throws Exception {
        String thread = ann.start("cashier", "Refund both");
        ann.awaitPending(thread, 1);
        openThread(thread);
        see("Asked by rule 1: fifty or more.");
        click("Approve");
        awaitChip("complete");

        browser.run("await page.locator('.call[data-call=tu_1] summary').first().click();"
                + "await page.locator('.call[data-call=tu_2] summary').first().click()");
        assertThat(texts(".call[data-call=tu_1] .facts dd")).contains("ask: fifty or more");
        assertThat(texts(".call[data-call=tu_2] .facts dd")).contains("allow");
    }

    @Test
    void approvalForLaterCalls_letsThemRunUntilItIsRevoked() throws Exception {
        String thread = ann.start("booker", "Book for everybody");
        ann.awaitPending(thread, 1);
        openThread(thread);
        click("Approve later calls, too");
        browser.run("await page.getByLabel('Number of later calls').fill('5');"
                + "await page.getByLabel('JSON Schema').fill('{\"properties\": {\"seats\": {\"maximum\": 4}},')");
        click("Approve this call and later ones");
        see("JSON");
        browser.run("await page.getByLabel('JSON Schema').fill('{\"properties\": {\"seats\": {\"maximum\": 1}}}')");
        click("Approve this call and later ones");
        see("The call still waits");
        assertThat(browser.run("return axe()")).isEmpty();
        browser.run("await page.getByLabel('JSON Schema').fill('{\"properties\": {\"seats\": {\"maximum\": 4}}}')");
        click("Approve this call and later ones");

        see("seats\": 9");
        assertThat(call(thread, "tu_2").path("status").asText()).isEqualTo("completed");
        browser.run("await page.locator('.call[data-call=tu_2] summary').first().click()");
        assertThat(texts(".call[data-call=tu_2] .facts dd")).contains("by grant 1");
        click("Deny");
        click("Deny");
        awaitChip("complete");

        click("Details");
        see("open, used 1 of 5 times");
        assertThat(texts("[data-grant='1'] code")).containsExactly("{\"properties\": {\"seats\": {\"maximum\": 4}}}");
        click("Revoke");
        see("revoked, used 1 of 5 times");
        assertThat(ann.post("/v1/threads/" + thread + "/say", "{'message':'One more'}")
                        .status())
                .isEqualTo(202);
        see("seats\": 1");
        assertThat(browser.run("return axe()")).isEmpty();
    }

    @Test
    void arguments_areEditedInAFormFromTheSchema_andShownAsADifferenceBeforeAndAfter() throws Exception {
        openChief();
        browser.run("const card = page.locator('.decision', { hasText: 'Sends a mail' });"
                + "await card.getByRole('button', { name: 'Edit arguments' }).click();"
                + "await card.getByLabel('to', { exact: true }).fill('bob \"the\" builder');"
                + "await card.getByLabel('priority').selectOption({ label: 'high' });"
                + "await card.getByLabel('draft').selectOption({ label: 'true' });"
                + "await card.getByLabel('copies').fill('many')");
        see("This is not a whole number.");
        assertThat(texts(".argument-editor .added"))
                .containsExactlyInAnyOrder(
                        "+\n  \"to\": \"bob \\\"the\\\" builder\",",
                        "+\n  \"priority\": \"high\",",
                        "+\n  \"draft\": true");
    }

    @Test
    void editedArguments_keepWhatWasNotEdited_exactly() throws Exception {
        String thread = openChief();
        browser.run("const card = page.locator('.decision', { hasText: 'Sends a mail' });"
                + "await card.getByRole('button', { name: 'Edit arguments' }).click();"
                + "await card.getByLabel('to', { exact: true }).fill('bob')");
        assertThat(browser.run("return axe()")).isEmpty();
        see("Edit as JSON: lines");
        click("Approve with these arguments");
        browser.run("await page.locator('.decision', { hasText: 'Sends a mail' }).waitFor({ state: 'detached' })");

        JsonNode args = call(thread, "tu_4").path("args");
        assertThat(args.path("copies").toString()).isEqualTo("12345678901234567890");
        assertThat(args.path("to").asText()).isEqualTo("bob");
        browser.run("await page.locator('.call[data-call=tu_4] summary').first().click()");
        see("Arguments, as changed at the approval");
        assertThat(texts(".call[data-call=tu_4] .removed").toString()).contains("\"to\": \"ann\"");
        assertThat(texts(".call[data-call=tu_4] .added").toString()).contains("\"to\": \"bob\"");
    }

    @Test
    void openQuestion_hasTheOnlyField_unlessAMessageIsWantedInstead() throws Exception {
        String thread = ann.start("asker", "Book");
        openThread(thread);
        see("The agent waits for your answer above.");
        assertThat(browser.run("return page.getByLabel('Message', { exact: true }).count()")
                        .intValue())
                .isZero();
        assertThat(browser.run("return axe()")).isEmpty();
        click("Write a message instead");
        see("This is not the answer: the question stays open");
        browser.run("await page.getByLabel('Message', { exact: true }).fill('By the way');"
                + "await page.keyboard.press('Enter')");
        see("The model receives this at its next call.");
        browser.run("await page.keyboard.type('Friday');"
                + "await page.keyboard.press('Enter');"
                + "await page.locator('.decision', { hasText: 'Which day?' }).waitFor({ state: 'detached' });"
                + "await page.locator('.decision').getByLabel('Answer').fill('12A');"
                + "await page.keyboard.press('Enter')");
        see("Booked.");
        browser.run("await page.getByLabel('Message', { exact: true }).waitFor()");
    }

    @Test
    void unknownThread_saysSo_andWhatToDo() throws Exception {
        open("/#/thread/nothing-here", ANN);
        see("There is no such thread");
        see("it belongs to somebody else");
        assertThat(browser.run("return axe()")).isEmpty();
        browser.run("await page.locator('main').getByRole('link', { name: 'Back to the list' }).click()");
        browser.run("await page.locator('main').getByRole('link', { name: 'New thread' }).waitFor()");
    }

    @Test
    void fork_namesItsOrigin_andTheLinkSurvivesAReload() throws Exception {
        String thread = ann.start("keeper", "Keep");
        openThread(thread);
        see("Is that all?");
        browser.run("await page.getByRole('button', { name: 'Timeline' }).click();"
                + "await page.getByRole('slider', { name: 'Version' }).fill('1')");
        see("Back to now");
        assertThat(browser.text("return page.url()")).endsWith("?panel=timeline&version=1");
        browser.run("await page.getByText('Events that led to this version').click();"
                + "await page.locator('.events summary', { hasText: 'model-replied' }).first().click();"
                + "await page.locator('.events details[open] .json', { hasText: 'write_todos' }).waitFor()");
        assertThat(browser.run("return axe()")).isEmpty();
        browser.run("await page.reload()");
        see("Back to now");
        browser.run("await page.getByLabel('Message (optional)').fill('Again')");
        click("Fork");
        see("fork of");
        assertThat(browser.text("return page.locator('.thread-header').innerText()"))
                .contains("version 1");
        browser.run("await page.locator('.thread-header').getByRole('link').last().click()");
        see("Back to now");
        assertThat(browser.text("return page.url()")).contains(thread).endsWith("?panel=timeline&version=1");
    }

    @Test
    void message_isChangedInANewThread_andAReplyIsRepeated() throws Exception {
        String thread = ann.start("boss", "Go");
        openThread(thread);
        click("Deny");
        click("Deny");
        see("Turn 1: ");
        assertThat(browser.text("return page.locator('.turn').innerText()"))
                .matches("Turn 1: [\\d.]+ s, 1,100 tokens, \\$0\\.0045");
        assertThat(browser.text("return page.locator('.call[data-call=tu_7] > summary').innerText()"))
                .containsPattern("[\\d.]+ s");
        browser.run("await page.getByLabel('Message', { exact: true }).fill('And now?');"
                + "await page.keyboard.press('Enter')");
        see("Turn 2: ");

        browser.run("const said = page.locator('.said', { hasText: 'And now?' });"
                + "await said.hover(); await said.getByRole('button', { name: 'Edit in a new thread' }).click();"
                + "await page.getByLabel('Changed message').fill('And then?')");
        assertThat(browser.run("return axe()")).isEmpty();
        click("Continue in a new thread");
        see("fork of");
        browser.run("await page.locator('.message.user', { hasText: 'And then?' }).waitFor()");
        see("Turn 2: ");
        assertThat(texts(".message.user")).containsExactly("Go", "And then?");

        browser.run("await page.goto('" + server.address() + "/#/thread/" + thread + "')");
        see("Turn 2: ");
        browser.run("const last = page.locator('.reply').last(); await last.hover();"
                + "await last.getByRole('button', { name: 'Repeat in a new thread' }).click();"
                + "await page.waitForFunction((old) => !location.href.includes(old), page.url().split('#')[1])");
        see("fork of");
        see("Turn 2: ");
        assertThat(texts(".message.user")).containsExactly("Go", "And now?");
        assertThat(ann.list(thread, "messages").toString()).contains("And now?").doesNotContain("And then?");
    }

    @Test
    void linkToACall_opensIt_alsoAfterAReload() throws Exception {
        String thread = ann.start("keeper", "Keep");
        open("/#/thread/" + thread + "?call=tu_2", ANN);
        browser.run("await page.locator('.call[open][data-call=tu_2]').waitFor(); await page.reload();"
                + "await page.locator('.call[open][data-call=tu_2]').waitFor()");
    }

    @Test
    void workspace_showsTodosAndFiles_withTheirChanges() throws Exception {
        String thread = ann.start("keeper", "Keep");
        openThread(thread);
        see("Is that all?");
        click("Workspace");
        browser.run("await page.getByRole('button', { name: 'docs/NOTES.md' }).click();"
                + "await page.locator('.file-content h3', { hasText: 'Notes' }).waitFor()");
        assertThat(texts(".steps li")).containsExactly("✓ Look around");
        assertThat(texts(".file-content p")).containsExactly("new line");
        assertThat(browser.run("return axe()")).isEmpty();
        browser.run("await page.locator('.file').getByLabel('Changes since').selectOption({ index: 1 });"
                + "await page.locator('.file .added', { hasText: 'new line' }).waitFor();"
                + "await page.locator('.file .removed', { hasText: 'old line' }).waitFor()");
        browser.run("await page.getByRole('button', { name: 'data.csv' }).click();"
                + "await page.locator('.file-content', { hasText: 'a,b' }).waitFor()");
        assertThat(browser.text("const download = page.waitForEvent('download');"
                        + "await page.getByRole('button', { name: 'Download' }).click();"
                        + "const stream = await (await download).createReadStream(); let text = '';"
                        + "for await (const part of stream) text += part;"
                        + "return (await download).suggestedFilename() + ' ' + text"))
                .isEqualTo("data.csv a,b\n1,2\n");
    }

    @Test
    void newThread_asksForTheMessageFirst_andAgentsThatWorkForOthersAreFolded() throws Exception {
        open("/#/new", ANN);
        browser.run("await page.getByRole('radio', { name: /assistant/ }).waitFor()");
        assertThat(browser.text("return page.evaluate(() => document.activeElement.id)"))
                .isEqualTo("first-message");
        assertThat(browser.run("return page.getByRole('radio', { name: /billing/ }).isVisible()")
                        .booleanValue())
                .isFalse();
        browser.run("await page.getByText('Agents that work for others').click();"
                + "await page.getByRole('radio', { name: /billing/ }).waitFor()");
        assertThat(browser.run("return axe()")).isEmpty();
    }

    @Test
    void somebodyWithoutThreads_isToldHowToBegin() throws Exception {
        open("/", ServedThreads.BOB);
        see("Start the first thread");
        assertThat(browser.run("return axe()")).isEmpty();
    }
}
