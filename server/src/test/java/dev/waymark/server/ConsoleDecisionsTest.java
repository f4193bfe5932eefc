package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static dev.waymark.server.ServedThreads.OPERATOR;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.worker.server.DevServer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How the console shows requests to people, and what people can do about them. */
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
    void subagentRequests_nameTheirAgentAndTask() throws Exception {
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
    void request_showsReasonAndTimes_andFoldsItsIds() throws Exception {
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
    void questionWithTimeLimit_saysWhatHappensAfterIt() throws Exception {
        String thread = ann.start("asker", "Book");
        ann.awaitPending(thread, 2);
        openThread(thread);

        assertThat(browser.text("return page.locator('.decision').first().innerText()"))
                .containsPattern("until .+\\. Then the model is told that nobody answered\\.");
    }

    @Test
    void secondClickAtTheSamePlace_decidesNothingElse() throws Exception {
        for (String button : List.of("Approve", "Edit arguments")) {
            newUser();
            String thread = openChief();
            browser.run("const card = page.locator('.decision', { hasText: 'Charge table nine' });"
                    + "await card.getByRole('button', { name: '" + button + "', exact: true }).click();"
                    + ("Approve".equals(button)
                            ? ""
                            : "await card.getByRole('button', { name: 'Approve with these arguments' }).click();")
                    + "for (let i = 0; i < 9; i++) { await page.waitForTimeout(400);"
                    + "  await page.mouse.down(); await page.mouse.up(); }"
                    + "await card.waitFor({ state: 'detached' })");

            assertThat(ann.list(thread, "pending")).hasSize(3);
            assertThat(texts(".decision h3")).containsOnly("Approval needed");
        }
    }

    @Test
    void movedCard_ignoresThePointerBrieflyButNotTheKeyboard() throws Exception {
        browser.run("await fresh({ viewport: { width: 1280, height: 2400 } })");
        String thread = openChief();
        see("A message does not decide what waits above");
        String first = browser.text("const cards = page.locator('.decision');"
                + "await cards.nth(1).getByRole('button', { name: 'Approve', exact: true }).hover();"
                + "return cards.first().getAttribute('data-call')");
        // Somebody else decides, and the cards below move up.
        for (JsonNode item : ann.list(thread, "pending")) {
            if (item.path("callId").asText().equals(first)) {
                ann.post(
                        "/v1/threads/" + thread + "/deny",
                        "{'callId':'" + first + "','argsDigest':'"
                                + item.path("argsDigest").asText() + "'}");
            }
        }
        browser.run("await page.waitForFunction(() => document.querySelectorAll('.decision').length === 3);"
                + "await page.mouse.down(); await page.mouse.up(); await page.waitForTimeout(300)");
        assertThat(texts(".decision h3")).hasSize(3).containsOnly("Approval needed");
        browser.run("await page.locator('.decision').first()"
                + ".getByRole('button', { name: 'Approve', exact: true }).focus();"
                + "await page.keyboard.press('Enter');"
                + "await page.waitForFunction(() => document.querySelectorAll('.decision').length === 2)");
        assertThat(ann.list(thread, "pending")).hasSize(2);
    }

    @Test
    void editedFirstMessage_forksTheThreadWithItsContext() throws Exception {
        HttpCaller operator = ann.as(OPERATOR);
        String thread = operator.post(
                        "/v1/threads",
                        "{'agent':'teller','message':'Look','context':{'place':'Paris','number':12345678901234567890}}")
                .text("thread");
        open("/#/thread/" + thread, OPERATOR);
        see("Turn 1: ");
        browser.run("const said = page.locator('.said').first(); await said.hover();"
                + "await said.getByRole('button', { name: 'Edit in a new thread' }).click();"
                + "await page.keyboard.press('Control+A'); await page.keyboard.type('Look again')");
        click("Continue in a new thread");
        see("fork of");
        see("Turn 1: ");

        assertThat(texts(".message.user")).containsExactly("Look again");
        assertThat(texts(".message.assistant").toString()).contains("Paris", "12345678901234567890");
        assertThat(browser.text("return page.locator('.thread-header').innerText()"))
                .contains("from its start");
        String fork = browser.text("return page.url().split('/').at(-1)");
        assertThat(operator.get("/v1/threads/" + fork)
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
    void editorOnAPhone_hasNoOverlapsAndCompleteButtonRows() throws Exception {
        browser.run("await fresh({ viewport: { width: 390, height: 760 } })");
        openChief();
        browser.run("const card = page.locator('.decision', { hasText: 'Sends a mail' });"
                + "await card.getByRole('button', { name: 'Edit arguments' }).click();"
                + "await card.getByLabel('to', { exact: true }).fill('bob')");
        assertThat(browser.run("return page.evaluate(() => {"
                                + "  const boxes = ['.fields', 'textarea.mono', '.changes', 'form > label'].map((part) =>"
                                + "    document.querySelector(`.controls ${part}`).getBoundingClientRect());"
                                + "  const [item, tools] = ['.said', '.said > .tools'].map((part) =>"
                                + "    document.querySelector(part).getBoundingClientRect());"
                                + "  return boxes.slice(1).every((box, i) => box.top >= boxes[i].bottom)"
                                + "    && tools.bottom <= item.bottom; })")
                        .booleanValue())
                .isTrue();
    }

    @Test
    void focus_movesToTheNextField_andEscapeKeepsTypedText() throws Exception {
        String thread = ann.start("asker", "Book");
        ann.awaitPending(thread, 2);
        openThread(thread);
        browser.run("await page.locator('.decision').nth(1).waitFor();"
                + "await page.keyboard.press('w'); await page.keyboard.type('Friday');"
                + "await page.keyboard.press('Escape'); await page.locator('body').press('Escape')");
        assertThat(browser.text("return page.locator('.decision').first().getByLabel('Answer').inputValue()"))
                .isEqualTo("Friday");
        browser.run("await page.keyboard.press('Enter');"
                + "await page.waitForFunction(() => document.querySelectorAll('.decision').length === 1)");
        assertThat(browser.text("return page.evaluate(() => document.activeElement.getAttribute('class'))"))
                .contains("decision question");
        browser.run("await page.keyboard.press('w'); await page.keyboard.type('12A');"
                + "await page.keyboard.press('Enter')");
        see("Booked.");
        browser.run("await page.waitForFunction(() => document.activeElement.matches('.messages'))");

        openForm(ann.start("cashier", "Refund"));
        browser.run("await page.evaluate(() => document.activeElement.blur()); await page.keyboard.press('Escape');"
                + "await page.waitForFunction(() => document.activeElement.id.endsWith('-0'));"
                + "await page.evaluate(() => document.activeElement.blur()); await page.keyboard.press('w');"
                + "await page.waitForFunction(() => document.activeElement.id.endsWith('-0'));"
                + "await page.route('**/approve', (route) => route.fulfill({ status: 409, contentType:"
                + " 'application/json', body: JSON.stringify({ code: 'NotPending', detail: 'it was changed' }) }));"
                + "await page.getByRole('button', { name: 'Approve with these arguments' }).focus();"
                + "await page.keyboard.press('Enter')");
        see("It was changed.");
        assertThat(browser.text("return page.evaluate(() => document.activeElement.textContent)"))
                .isEqualTo("Approve with these arguments");
    }

    private void openForm(String thread) throws Exception {
        ann.awaitPending(thread, 1);
        browser.run("await page.evaluate((thread) => { location.hash = `#/thread/${thread}`; }, '" + thread + "');"
                + "await page.getByRole('button', { name: 'Edit arguments' }).click();"
                + "await page.getByLabel('usd', { exact: true }).fill('70')");
    }

    @Test
    void start_movesTheFocusOnlyIfItSucceeds() throws Exception {
        open("/#/new", OPERATOR);
        browser.run("await page.getByRole('radio', { name: /teller/ }).check();"
                + "await page.getByLabel('First message').fill('Look');"
                + "await page.getByText('Context for the tools').click();"
                + "await page.getByLabel('JSON object').fill('[1]')");
        click("Start");
        see("The context must be a JSON object.");
        browser.run("await page.getByLabel('JSON object').fill('{\"place\": \"Oslo\"}')");
        assertThat(browser.run("return axe()")).isEmpty();
        browser.run("await page.getByRole('button', { name: 'Start' }).focus(); await page.keyboard.press('Enter')");
        see("Turn 1: ");
        assertThat(texts(".message.assistant").toString()).contains("Oslo");
        browser.run("await page.waitForFunction(() => document.activeElement.matches('.messages'))");
    }

    @Test
    void unreachableServerWarning_disappearsOnceTheServerAnswers() throws Exception {
        String thread = ann.start("assistant", "Hi");
        openThread(thread);
        see("Hello.");
        browser.run("await page.route('**/say', (route) => route.abort());"
                + "await page.getByLabel('Message', { exact: true }).fill('Again');"
                + "await page.keyboard.press('Enter');"
                + "await page.locator('.composer .problem', { hasText: 'cannot be reached' }).waitFor()");
        ann.post("/v1/threads/" + thread + "/say", "{'message':'By another way'}");
        browser.run("await page.locator('.composer .problem').waitFor({ state: 'hidden' })");
        assertThat(browser.text("return page.getByLabel('Message', { exact: true }).inputValue()"))
                .isEqualTo("Again");
    }

    @Test
    void questionAndAnswer_areShownAsTextInTheConversation() throws Exception {
        String thread = ann.start("sender", "Send");
        ann.awaitPending(thread, 2);
        openThread(thread);
        click("Deny");
        browser.run("await page.locator('.decision.approval form button[type=submit]').click();"
                + "await page.locator('.decision.approval').waitFor({ state: 'detached' });"
                + "await page.getByLabel('Answer').fill(" + quoted(HOSTILE) + ");"
                + "await page.getByLabel('Answer').press('Enter')");
        awaitChip("complete");

        assertThat(texts(".message.asked")).containsExactly(SHOWN);
        assertThat(texts(".message.answered")).containsExactly(SHOWN);
        assertThat(browser.run("return [await page.title(), await page.locator('.messages img, .messages script,"
                                + " .messages a').count()]")
                        .toString())
                .endsWith("Waymark\",0]");
    }

    @Test
    void address_containsPanelVersionAndFilters() throws Exception {
        String thread = ann.start("asker", "Book the box");
        ann.awaitPending(thread, 2);
        for (String call : List.of("tu_1", "tu_2")) {
            ann.post("/v1/threads/" + thread + "/answer", "{'callId':'" + call + "','answer':'x'}");
        }
        String address = "/?filter=open&agent=asker&search=box&since=week#/thread/" + thread;
        open(address + "?panel=details&version=1", ANN);
        see("Back to now");
        assertThat(texts(".side [aria-pressed=true]")).containsExactly("Details");
        assertThat(texts(".filters [aria-pressed=true]")).containsExactly("Open");
        assertThat(browser.text("const download = page.waitForEvent('download');"
                        + "await page.getByLabel('Format').selectOption('messages');"
                        + "await page.getByRole('button', { name: 'Download' }).click();"
                        + "const stream = await (await download).createReadStream(); let text = '';"
                        + "for await (const part of stream) text += part; return text"))
                .contains("Book the box")
                .doesNotContain("Booked.");
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
    void forkInTheMiddleOfATurn_isContinued() throws Exception {
        String thread = ann.start("keeper", "Keep");
        ann.awaitPending(thread, 1);
        openThread(ann.post("/v1/threads/" + thread + "/fork", "{'at':'1'}").text("thread"));
        see("The fork begins here, in the middle of a turn.");
        click("Continue");
        browser.run("await page.locator('.decision').waitFor()");
    }

    @Test
    void rulesAndReasons_areShownBeforeAndAfterTheDecision() throws Exception {
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
        see("book then also runs in this thread without asking, once more, with these same arguments.");
        click("3 times");
        browser.run("await page.getByLabel('seats', { exact: true }).selectOption('up to …');"
                + "await page.getByLabel('Largest seats').fill('1')");
        click("Approve this call and later ones");
        see("seats: write a number that is not below 2.");
        browser.run("await page.getByLabel('Largest seats').fill('4')");
        see("3 more times, with seats from 0 to 4.");
        assertThat(browser.run("return axe()")).isEmpty();
        click("Approve this call and later ones");

        see("seats\": 9");
        assertThat(call(thread, "tu_2").path("status").asText()).isEqualTo("completed");
        browser.run("await page.locator('.call[data-call=tu_2] summary').first().click()");
        assertThat(texts(".call[data-call=tu_2] .facts dd")).contains("by grant 1");
        click("Deny");
        click("Deny");
        awaitChip("complete");

        click("Details");
        see("open, used 1 of 3 times");
        assertThat(texts("[data-grant='1'] code"))
                .containsExactly(
                        "{\"properties\": {\"seats\": {\"maximum\": 4, \"minimum\": 0, \"type\": \"integer\"}},"
                                + " \"propertyNames\": {\"enum\": [\"seats\"]}, \"required\": [\"seats\"]}");
        click("Revoke");
        see("revoked, used 1 of 3 times");
        assertThat(ann.post("/v1/threads/" + thread + "/say", "{'message':'One more'}")
                        .status())
                .isEqualTo(202);
        see("seats\": 1");
        assertThat(browser.run("return axe()")).isEmpty();
    }

    @Test
    void approvalForAnyArguments_isConfirmedAndRecorded() throws Exception {
        String thread = ann.start("booker", "Book for everybody");
        ann.awaitPending(thread, 1);
        openThread(thread);
        click("Approve later calls, too");
        click("Today");
        browser.run("await page.getByLabel('seats', { exact: true }).selectOption('anything')");
        see("with any arguments.");
        browser.run("await page.getByRole('button', { name: 'Approve this call and later ones' }).dblclick()");
        see("Nobody will be asked about later calls of book, whatever their arguments are.");
        assertThat(ann.list(thread, "pending")).hasSize(1);
        click("Back");
        click("This thread");
        see("until the thread ends, with any arguments.");
        click("Approve this call and later ones");
        click("Yes, with any arguments");
        awaitChip("complete");

        JsonNode grant = ann.list(thread, "grants").path(0);
        assertThat(grant.path("anyArgs").asBoolean()).isTrue();
        assertThat(grant.path("used").asInt()).isEqualTo(2);
        assertThat(List.of(grant.has("like"), grant.has("args"), grant.has("times"), grant.has("until")))
                .containsOnly(false);
        click("Details");
        see("book with any arguments, open, used 2 times");
    }

    /** A browser would round the number. */
    @Test
    void approvalForSomeArguments_keepsTheOthersExactly() throws Exception {
        String thread = ann.start("sender", "Send");
        ann.awaitPending(thread, 2);
        openThread(thread);
        click("Approve later calls, too");
        browser.run("await page.getByLabel('rate', { exact: true }).selectOption('anything')");
        click("Approve this call and later ones");
        browser.run("await page.locator('.decision.approval').waitFor({ state: 'detached' })");

        JsonNode grant = ann.list(thread, "grants").path(0);
        assertThat(grant.path("like").at("/properties/id/const").toString()).isEqualTo("12345678901234567890");
        assertThat(grant.path("like").at("/propertyNames/enum").size()).isEqualTo(3);
        assertThat(grant.path("like").path("properties").has("rate")).isFalse();
    }

    @Test
    void editedArguments_useASchemaFormAndShowTheDifference() throws Exception {
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
    void decidedCard_showsTheDecisionAtOnce() throws Exception {
        openThread(ann.start("cashier", "Refund"));
        click("Edit arguments");
        assertThat(browser.run("return page.getByText('Runs with exactly these arguments').isVisible()")
                        .booleanValue())
                .isFalse();
        browser.run("await page.getByLabel('usd', { exact: true }).fill('70');"
                // Keeps the page from learning that the call no longer waits.
                + "await page.route('**/conversation', () => {})");
        click("Approve with these arguments");
        see("Approved with changes");
        assertThat(texts(".decision")).containsExactly("Approved with changes\nrefund");
    }

    @Test
    void decimalComma_isAcceptedUnlessAmbiguous() throws Exception {
        openThread(ann.start("pricer", "Price"));
        click("Edit arguments");
        browser.run("await page.getByLabel('usd', { exact: true }).fill('980,50')");
        assertThat(texts(".argument-editor .added")).containsExactly("+\n  \"usd\": 980.50");
        browser.run("await page.getByLabel('usd', { exact: true }).fill('1,000')");
        see("Write 1000 or 1.0: the comma is ambiguous.");
        assertThat(browser.run("return page.locator('.argument-editor .changes').isVisible()")
                        .booleanValue())
                .isFalse();
        browser.run("await page.getByLabel('usd', { exact: true }).fill('1,0,0')");
        see("This is not a number.");
        assertThat(browser.text("return page.getByLabel('Arguments', { exact: true }).inputValue()"))
                .contains("\"usd\": 1250\n");
    }

    @Test
    void editedArguments_keepUneditedValuesExactly() throws Exception {
        String thread = openChief();
        browser.run("const card = page.locator('.decision', { hasText: 'Sends a mail' });"
                + "await card.getByRole('button', { name: 'Edit arguments' }).click();"
                + "await card.getByLabel('to', { exact: true }).fill('bob')");
        assertThat(browser.run("return axe()")).isEmpty();
        see("Edit as JSON: lines");
        click("Approve with these arguments");
        browser.run(
                "await page.locator('.call[data-call=tu_4] > summary', { hasText: 'arguments changed' }).waitFor()");

        JsonNode args = call(thread, "tu_4").path("args");
        assertThat(args.path("copies").toString()).isEqualTo("12345678901234567890");
        assertThat(args.path("to").asText()).isEqualTo("bob");
        browser.run("await page.locator('.call[data-call=tu_4] summary').first().click()");
        see("Arguments, as changed at the approval");
        assertThat(texts(".call[data-call=tu_4] .removed").toString()).contains("\"to\": \"ann\"");
        assertThat(texts(".call[data-call=tu_4] .added").toString()).contains("\"to\": \"bob\"");
    }

    @Test
    void openQuestion_hidesTheMessageFieldUntilRequested() throws Exception {
        String thread = ann.start("asker", "Book");
        openThread(thread);
        see("The agent waits for your answer above.");
        browser.run("await page.getByRole('button', { name: 'Go to the question' }).waitFor({ state: 'hidden' });"
                + "await page.setViewportSize({ width: 390, height: 300 });"
                + "await page.getByRole('button', { name: 'Go to the question' }).waitFor();"
                + "await page.setViewportSize({ width: 1280, height: 800 })");
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
    void unknownThread_isReportedWithRemedy() throws Exception {
        open("/#/thread/nothing-here", ANN);
        see("There is no such thread");
        see("it belongs to somebody else");
        assertThat(browser.run("return axe()")).isEmpty();
        browser.run("await page.locator('main').getByRole('link', { name: 'Back to the list' }).click()");
        browser.run("await page.locator('main').getByRole('link', { name: 'New thread' }).waitFor()");
    }

    @Test
    void fork_linksToItsOriginAlsoAfterReload() throws Exception {
        String thread = ann.start("keeper", "Keep");
        openThread(thread);
        see("Is that all?");
        browser.run("await page.getByRole('button', { name: 'Timeline' }).click();"
                + "await page.getByRole('slider', { name: 'Version' }).fill('1')");
        see("Back to now");
        assertThat(browser.run("return page.getByRole('button', { name: 'Fork', exact: true }).evaluate((button) =>"
                                + " button.getBoundingClientRect().bottom <= innerHeight)")
                        .booleanValue())
                .isTrue();
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
        // A panel is open, so the header is narrow.
        assertThat(browser.text("return page.locator('.thread-header').innerText()"))
                .contains("version 1");
        assertThat(browser.run(
                                "return page.locator('.who p').evaluate((words) => words.scrollWidth <= words.clientWidth)")
                        .booleanValue())
                .isTrue();
        browser.run("await page.locator('.thread-header').getByRole('link').last().click()");
        see("Back to now");
        assertThat(browser.text("return page.url()")).contains(thread).endsWith("?panel=timeline&version=1");
    }

    @Test
    void editedMessageAndRepeatedReply_startNewThreads() throws Exception {
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
        assertThat(browser.text("return page.locator('.thread-header').innerText()"))
                .contains("$0, and $0.0045 before this thread");
        assertThat(texts(".turn")).singleElement().asString().endsWith(" tokens, $0");
        browser.run("await page.locator('.threads li', { hasText: 'And then?' })"
                + ".getByText('boss · fork · complete').waitFor()");
        assertThat(texts(".threads li:has(.latest:text-is('And now?')) .about")).containsExactly("boss · complete");

        browser.run("await page.goto('" + server.address() + "/#/thread/" + thread + "');"
                + "await page.locator('.thread-header code[title=\"" + thread + "\"]').waitFor()");
        see("Turn 2: ");
        browser.run("const last = page.locator('.reply').last(); await last.hover();"
                + "await last.getByRole('button', { name: 'Answer again in a new thread' }).click()");
        see("fork of");
        see("Turn 2: ");
        assertThat(texts(".message.user")).containsExactly("Go", "And now?");
        assertThat(ann.list(thread, "messages").toString()).contains("And now?").doesNotContain("And then?");
    }

    /** A fork has its first messages from its origin, and one may have begun it. */
    @Test
    void messagesOfAFork_canBeEditedAndRepeatedAtOnce() throws Exception {
        String thread = ann.start("assistant", "One");
        openThread(thread);
        see("Turn 1: ");
        for (String message : List.of("Two", "Three")) {
            changeMessage(0, message);
            awaitAgain("Edit", 1);
            awaitAgain("Answer again", 1);
            assertThat(texts(".message.user")).containsExactly(message);
        }
        browser.run(
                "await page.getByLabel('Message', { exact: true }).fill('Four'); await page.keyboard.press('Enter')");
        see("Turn 2: ");
        changeMessage(1, "Five");
        awaitAgain("Edit", 2);
        awaitAgain("Answer again", 2);
        assertThat(texts(".message.user")).containsExactly("Three", "Five");
        changeMessage(1, "Six");
        awaitAgain("Edit", 2);
        assertThat(texts(".message.user")).containsExactly("Three", "Six");
        changeMessage(0, "Seven");
        awaitAgain("Edit", 1);
        assertThat(texts(".message.user")).containsExactly("Seven");
        assertThat(browser.text("return page.locator('.thread-header').innerText()"))
                .contains("from its start");
    }

    /** The first message began the turn; the second arrived while the agent worked. */
    @Test
    void queuedMessage_canBeEditedInAFork() throws Exception {
        String thread = ann.start("prompted", "One");
        openThread(thread);
        browser.run(
                "await page.getByLabel('Message', { exact: true }).fill('Two'); await page.keyboard.press('Enter')");
        see("The model receives this at its next call.");
        model.says("First.");
        model.ends();
        see("First.");
        model.says("Second.");
        model.ends();
        see("Turn 2: ");
        changeMessage(1, "Three");
        model.says("Third.");
        model.ends();
        see("Third.");
        awaitAgain("Edit", 2);
        changeMessage(1, "Four");
        model.says("Fourth.");
        model.ends();
        see("Fourth.");
        assertThat(texts(".message.user")).containsExactly("One", "Four");
    }

    private void changeMessage(int index, String text) throws Exception {
        browser.run("const said = page.locator('.said').nth(" + index + "); await said.hover();"
                + "await said.getByRole('button', { name: 'Edit in a new thread' }).click();"
                + "await page.getByLabel('Changed message').fill('" + text + "')");
        click("Continue in a new thread");
        browser.run("await page.locator('.message.user', { hasText: '" + text + "' }).waitFor()");
        see("fork of");
    }

    private void awaitAgain(String button, int count) throws Exception {
        browser.run("await page.waitForFunction(([name, count]) => [...document.querySelectorAll('.tools button')]"
                + ".filter((button) => button.textContent === name).length === count, ['" + button
                + " in a new thread', " + count + "])");
    }

    @Test
    void turnWithTools_isRepeatedAfterAWarning() throws Exception {
        String thread = ann.start("billing", "Pay");
        openThread(thread);
        browser.run(
                "await page.locator('.reply', { hasText: 'Charging now.' }).getByRole('button', { name: 'Answer again'"
                        + " }).waitFor({ state: 'attached' })");
        click("Approve");
        see("Charged.");
        awaitAgain("Answer again", 1);
        browser.run("const last = page.locator('.reply', { hasText: 'Charged.' }); await last.hover();"
                + "await last.getByRole('button', { name: 'Answer again in a new thread' }).click()");
        see("charge_card ran for this message and may run again.");
        assertThat(browser.run("return axe()")).isEmpty();
        click("Cancel");
        click("Edit in a new thread");
        see("charge_card ran for this message and may run again.");
        click("Back");
        click("Answer again in a new thread");
        assertThat(browser.text("return page.url()")).endsWith(thread);
        click("Answer again");
        see("fork of");
        see("Approval needed");
        assertThat(texts(".message.user")).containsExactly("Pay");
    }

    @Test
    void failedTurn_canBeRepeatedWithAButton() throws Exception {
        String thread = ann.start("prompted", "Try");
        model.failsForGood();
        openThread(thread);
        awaitChip("failed");
        assertThat(browser.run("return axe()")).isEmpty();
        browser.run("await page.locator('.end').getByRole('button', { name: 'Answer again in a new thread' }).click()");
        see("fork of");
        browser.run("await page.waitForFunction(() => !document.querySelector('.message.queued'))");
        assertThat(texts(".message.user")).containsExactly("Try");
        assertThat(browser.text("return page.url()")).doesNotContain(thread);
    }

    @Test
    void editedCallOfASubagent_isMarkedInTheParentThread() throws Exception {
        openChief();
        for (String card : List.of("Charge table nine", "Charge the card")) {
            browser.run("const card = page.locator('.decision', { hasText: '" + card + "' });"
                    + "await card.getByRole('button', { name: 'Edit arguments' }).click();"
                    + "await card.getByLabel('cents', { exact: true }).fill('7');"
                    + "await card.getByRole('button', { name: 'Approve with these arguments' }).click();"
                    + "await card.waitFor({ state: 'detached' })");
        }
        browser.run("await page.locator('.decision', { hasText: 'Charge table four' })"
                + ".getByRole('button', { name: 'Approve', exact: true }).click();"
                + "await page.waitForFunction(() => document.querySelectorAll('.decision').length === 1)");

        assertThat(texts(".call:has(> summary .took:text-is('arguments changed')) > summary .gist"))
                .containsExactly("Charge table nine", "Settle the rest");
        browser.run("await page.locator('.call[data-call=tu_3] > summary').click();"
                + "await page.getByRole('link', { name: 'Open the call whose arguments were changed (tu_7/tu_1)' }).click();"
                + "await page.locator('.call[open][data-call=tu_1]').waitFor()");
        see("Arguments, as changed at the approval");
        assertThat(browser.run("return axe()")).isEmpty();
    }

    @Test
    void list_showsTheNewStatusOfTheOpenThreadBeforeReload() throws Exception {
        openThread(ann.start("billing", "Pay at once"));
        browser.run("await page.locator('.threads a[aria-current]', { hasText: 'Approve charge_card' }).waitFor();"
                + "await page.route('**/v1/threads?*', () => {})");
        click("Approve");
        browser.run("await page.locator('.threads a[aria-current] .state.complete').waitFor()");
    }

    @Test
    void linkToACall_opensItAlsoAfterReload() throws Exception {
        String thread = ann.start("keeper", "Keep");
        open("/#/thread/" + thread + "?call=tu_2", ANN);
        browser.run("await page.locator('.call[open][data-call=tu_2]').waitFor(); await page.reload();"
                + "await page.locator('.call[open][data-call=tu_2]').waitFor()");
    }

    @Test
    void workspace_showsTodosFilesAndChanges() throws Exception {
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
    void workspaceWithoutFiles_saysSo() throws Exception {
        openThread(ann.start("assistant", "Hi"));
        see("Hello.");
        click("Details");
        click("Workspace");
        see("This thread has no files.");
    }

    @Test
    void newThread_asksForTheMessageFirstAndFoldsSubagents() throws Exception {
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
    void emptyList_explainsHowToBegin() throws Exception {
        open("/", ServedThreads.BOB);
        see("Start the first thread");
        assertThat(browser.run("return axe()")).isEmpty();
    }
}
