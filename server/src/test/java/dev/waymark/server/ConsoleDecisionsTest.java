package dev.waymark.server;

import static dev.waymark.server.ServedThreads.CAROL;
import static dev.waymark.server.ServedThreads.DAVE;
import static dev.waymark.server.ServedThreads.IMPORTER;
import static dev.waymark.server.ServedThreads.LOOKER;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.PayloadJson;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How the console shows requests to people, and what people can do about them. */
@Tag("full")
class ConsoleDecisionsTest extends ConsoleCases {
    private static final String CHARGE_RAN = "charge_card ran for this message and may run again.";

    @Test
    void approval_runsTheShownArguments_andTheTurnIsRepeatedAfterAWarning() throws Exception {
        String thread = ann.start("billing", "Pay at once");
        open("/#/thread/" + thread, LOOKER);
        see("Waits for somebody who may decide.");
        see("Your role allows you to read.");
        awaitChip("waiting for a person");
        assertThat(texts("button").toString()).doesNotContain("Approve", "Deny", "Stop", "Send", "Fork");
        assertThat(isTrue("await page.getByRole('link', { name: 'New thread' }).count() === 0"))
                .isTrue();
        click("Details");
        see("Model calls");
        assertThat(texts("body").toString()).doesNotContain("waiting for you").doesNotContain("waits for you");

        newUser();
        openThread(thread);
        awaitChip("waiting for you");
        see("Runs with exactly these arguments");
        assertThat(texts(".decision .json")).containsExactly("{\n  \"cents\": 8400\n}");
        browser.run(
                "await page.locator('.reply', { hasText: 'Charging now.' }).getByRole('button', { name: 'Answer again'"
                        + " }).waitFor({ state: 'attached' });"
                        // The thread is shown before the list was read, too.
                        + "await page.locator('.threads[aria-busy=false] a[aria-current]', { hasText: 'Approve"
                        + " charge_card' }).waitFor();"
                        // The list must not need the server to show what was decided here.
                        + "await page.route('**/v1/threads?*', () => {})");
        assertAccessible();
        click("Approve");
        see("Charged.");
        browser.run("await page.locator('.threads a[aria-current] .state.complete').waitFor();"
                + "await page.unroute('**/v1/threads?*')");
        assertThat(call(thread, "tu_1").at("/approval/verified/subject").asText())
                .isEqualTo("ann");
        assertThat(call(thread, "tu_1").at("/approval/edited").booleanValue()).isFalse();
        browser.run("await page.locator('.call > summary').click()");
        see("ann (verified)");

        awaitAgain("Answer again", 1);
        browser.run("const last = page.locator('.reply', { hasText: 'Charged.' }); await last.hover();"
                + "await last.getByRole('button', { name: 'Answer again in a new thread' }).click()");
        see(CHARGE_RAN);
        assertAccessible();
        click("Cancel");
        click("Edit in a new thread");
        see(CHARGE_RAN);
        click("Back");
        click("Answer again in a new thread");
        assertThat(shown()).isEqualTo(thread);
        click("Answer again");
        see("fork of");
        see("Approval needed");
        assertThat(texts(".message.user")).containsExactly("Pay at once");

        String fork = shown();
        click("Deny");
        browser.run("await page.getByLabel('Reason, which the model is told').fill('Too dear')");
        assertAccessible();
        click("Deny");
        awaitChip("complete");
        assertThat(call(fork, "tu_1").path("status").asText()).isEqualTo("denied");
        assertThat(call(fork, "tu_1").path("result").asText()).contains("Too dear");
    }

    @Test
    void decisionMadeElsewhere_isSaidOnTheCard() throws Exception {
        String thread = ann.start("billing", "Pay");
        openThread(thread);
        see("Runs with exactly these arguments");
        // Cuts off the page's own stream, so that the page does not see the other decision.
        browser.run("await context.setOffline(true)");
        String digest = ann.list(thread, "pending").at("/0/argsDigest").asText();
        ann.post("/v1/threads/" + thread + "/deny", "{'callId':'tu_1','argsDigest':'" + digest + "'}");
        browser.run("await context.setOffline(false)");
        see("Denied by ann (verified)");
        assertThat(count(".decision:not(.decided)")).isZero();
        awaitChip("complete");
    }

    @Test
    void editedArguments_areValidJsonAndNumbers() throws Exception {
        String thread = ann.start("billing", "Pay");
        openThread(thread);
        click("Edit arguments");
        browser.run("await page.getByLabel('Arguments', { exact: true }).fill('{ not JSON')");
        click("Approve with these arguments");
        see("This is not JSON");
        browser.run("await page.getByLabel('Arguments', { exact: true }).fill('{\"cents\": 4200}');"
                + "await page.getByLabel('Reason (optional)').fill('Half of it')");
        click("Approve with these arguments");
        see("Charged.");
        JsonNode call = call(thread, "tu_1");
        assertThat(call.path("args").toString()).isEqualTo("{\"cents\":4200}");
        assertThat(call.at("/approval/edited").booleanValue()).isTrue();
        assertThat(call.at("/approval/reason").asText()).isEqualTo("Half of it");

        show(ann.start("pricer", "Price"));
        click("Edit arguments");
        browser.run("await page.getByLabel('usd', { exact: true }).fill('980,50')");
        assertThat(texts(".argument-editor .added")).containsExactly("+\n  \"usd\": 980.50");
        browser.run("await page.getByLabel('usd', { exact: true }).fill('1,000')");
        see("Write 1000 or 1.0: the comma is ambiguous.");
        assertThat(isTrue("page.locator('.argument-editor .changes').isVisible()"))
                .isFalse();
        browser.run("await page.getByLabel('usd', { exact: true }).fill('1,0,0')");
        see("This is not a number.");
        assertThat(browser.text("return page.getByLabel('Arguments', { exact: true }).inputValue()"))
                .contains("\"usd\": 1250\n");
    }

    @Test
    void rules_areShown_andARefusedDecisionKeepsTheForm() throws Exception {
        openThread(ann.start("cashier", "Refund both"));
        see("It asks by rule 1: fifty or more.");
        click("Edit arguments");
        assertThat(isTrue("page.getByText('Runs with exactly these arguments').isVisible()"))
                .isFalse();
        browser.run("await page.getByLabel('usd', { exact: true }).fill('70');"
                + "await page.evaluate(() => document.activeElement.blur()); await page.keyboard.press('Escape');"
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

        // The page must show the decision before it learns that the call no longer waits.
        browser.run("await page.unroute('**/approve'); await page.route('**/conversation', () => {})");
        click("Approve with these arguments");
        see("Approved with changes");
        assertThat(texts(".decision")).containsExactly("Approved with changes\nrefund");
        browser.run("await page.unroute('**/conversation'); await page.reload()");
        awaitChip("complete");
        browser.run("await page.locator('.call[data-call=tu_1] summary').first().click();"
                + "await page.locator('.call[data-call=tu_2] summary').first().click()");
        assertThat(texts(".call[data-call=tu_1] .facts dd")).contains("ask: fifty or more");
        assertThat(texts(".call[data-call=tu_2] .facts dd")).contains("allow");
    }

    private String openChief() throws Exception {
        String thread = ann.start("chief", "Close the evening");
        ann.awaitPending(thread, 4);
        openThread(thread);
        browser.run("await page.locator('.decision').nth(3).waitFor();"
                + "await page.locator('.path li').nth(6).waitFor()");
        return thread;
    }

    private static String card(String words) {
        return "const card = page.locator('.decision', { hasText: '" + words + "' });";
    }

    @Test
    void subagentRequests_nameTheirTask_andEditedCallsAreMarked() throws Exception {
        String thread = openChief();
        List<String> paths = new ArrayList<>();
        browser.run("return page.locator('.path').evaluateAll((paths) => paths.map((path) =>"
                        + " [...path.children].map((step) => step.textContent).join(' > ')))")
                .forEach(path -> paths.add(path.asText()));
        assertThat(paths)
                .containsExactlyInAnyOrder(
                        "chief > billing: Charge table nine",
                        "chief > billing: Charge table four",
                        "chief > boss: Settle the rest > billing: Charge the card");
        assertAccessible();
        for (String task : List.of("Charge table nine", "Charge the card")) {
            browser.run(card(task) + "await card.getByRole('button', { name: 'Edit arguments' }).click();"
                    + "await card.getByLabel('cents', { exact: true }).fill('7');"
                    + "await card.getByRole('button', { name: 'Approve with these arguments' }).click();"
                    + "await card.waitFor({ state: 'detached' })");
        }
        browser.run(card("table four") + "await card.getByRole('button', { name: 'Deny' }).click();"
                + "await card.getByRole('button', { name: 'Deny' }).click();"
                + "await card.waitFor({ state: 'detached' })");
        assertThat(texts(".decision .path")).isEmpty();
        assertThat(texts(".call:has(> summary .took:text-is('arguments changed')) > summary .gist"))
                .containsExactly("Charge table nine", "Settle the rest");
        browser.run("await page.locator('.call[data-call=tu_3] > summary').click();"
                + "await page.getByRole('link', { name: 'Open the call whose arguments were changed (tu_7/tu_1)' }).click();"
                + "await page.locator('.call[open][data-call=tu_1]').waitFor()");
        see("Arguments, as changed at the approval");
        assertAccessible();

        show(thread);
        see("Sends a mail");
        assertThat(texts(".decision").toString())
                .containsPattern(
                        "Waits for a decision by somebody with the role “decide”, since .+, until .+\\. Then it"
                                + " is denied\\.")
                .doesNotContain("Digest", "tu_4");
        browser.run("await page.locator('.decision').getByText('Identifiers').click()");
        assertThat(texts(".decision").toString()).contains("Digest", "tu_4");
        click("Edit arguments");
        browser.run("await page.getByLabel('to', { exact: true }).fill('bob \"the\" builder');"
                + "await page.getByLabel('priority').selectOption({ label: 'high' });"
                + "await page.getByLabel('draft').selectOption({ label: 'true' })");
        see("Edit as JSON: lines");
        assertAccessible();
        assertThat(texts(".argument-editor .added"))
                .containsExactlyInAnyOrder(
                        "+\n  \"to\": \"bob \\\"the\\\" builder\",",
                        "+\n  \"priority\": \"high\",",
                        "+\n  \"draft\": true");
        browser.run("await page.getByLabel('copies').fill('many')");
        see("This is not a whole number.");
        browser.run("await page.getByLabel('copies').fill('12345678901234567890')");
        click("Approve with these arguments");
        browser.run("await page.locator('.call[data-call=tu_4] > summary', { hasText: 'arguments changed' }).click()");
        see("Arguments, as changed at the approval");
        JsonNode args = call(thread, "tu_4").path("args");
        assertThat(args.path("copies").toString()).isEqualTo("12345678901234567890");
        assertThat(args.path("lines").toString()).isEqualTo("[\"one\"]");
        assertThat(texts(".call[data-call=tu_4] .removed").toString()).contains("\"to\": \"ann\"");
        assertThat(texts(".call[data-call=tu_4] .added").toString()).contains("\"to\": \"bob ");
    }

    /** A click that was meant for a card that is gone decides nothing about the one that moves to its place. */
    @Test
    void movedCards_ignoreThePointerBrieflyButNotTheKeyboard() throws Exception {
        browser.run("await fresh({ viewport: { width: 1280, height: 2400 } })");
        String thread = openChief();
        see("A message does not decide what waits above");
        String clicks = "for (let i = 0; i < 9; i++) { await page.waitForTimeout(400);"
                + "  await page.mouse.down(); await page.mouse.up(); }"
                + "await card.waitFor({ state: 'detached' })";
        browser.run(card("Charge table nine")
                + "await card.getByRole('button', { name: 'Approve', exact: true }).click();" + clicks);
        assertThat(ann.list(thread, "pending")).hasSize(3);
        browser.run(card("Charge table four")
                + "await card.getByRole('button', { name: 'Edit arguments', exact: true }).click();"
                + "await card.getByRole('button', { name: 'Approve with these arguments' }).click();" + clicks);
        assertThat(ann.list(thread, "pending")).hasSize(2);
        assertThat(texts(".decision h3")).containsOnly("Approval needed");

        String first = browser.text("const cards = page.locator('.decision');"
                + "await cards.nth(1).getByRole('button', { name: 'Approve', exact: true }).hover();"
                + "return cards.first().getAttribute('data-call')");
        // Somebody else decides, and the card below moves up.
        for (JsonNode item : ann.list(thread, "pending")) {
            if (item.path("callId").asText().equals(first)) {
                ann.post(
                        "/v1/threads/" + thread + "/deny",
                        "{'callId':'" + first + "','argsDigest':'"
                                + item.path("argsDigest").asText() + "'}");
            }
        }
        browser.run(
                "await page.waitForFunction(() => document.querySelectorAll('.decision:not(.decided)').length === 1);"
                        + "await page.mouse.down(); await page.mouse.up(); await page.waitForTimeout(300)");
        assertThat(texts(".decision:not(.decided) h3")).containsExactly("Approval needed");
        browser.run("await page.locator('.decision').getByRole('button', { name: 'Approve', exact: true }).focus();"
                + "await page.keyboard.press('Enter');"
                + "await page.locator('.decision.approval:not(.decided)').waitFor({ state: 'detached' })");
        assertThat(ann.list(thread, "pending")).isEmpty();
    }

    @Test
    void approvalForLaterCalls_letsThemRunUntilItIsRevoked() throws Exception {
        String thread = ann.start("booker", "Book for everybody");
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
        assertAccessible();
        click("Approve this call and later ones");

        see("seats: 9");
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
        say("One more");
        see("seats: 1");
        assertAccessible();

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
        see("book with any arguments, open, used 1 times");
        JsonNode grant = ann.list(thread, "grants").path(1);
        assertThat(grant.path("anyArgs").asBoolean()).isTrue();
        assertThat(grant.path("used").asInt()).isEqualTo(1);
        assertThat(List.of(grant.has("like"), grant.has("args"), grant.has("times"), grant.has("until")))
                .containsOnly(false);
    }

    @Test
    void hostileTextAndArguments_areShownEscapedAndRunExactly() throws Exception {
        openThread(ann.post(
                        "/v1/threads",
                        PayloadJson.MAPPER.writeValueAsString(Map.of("agent", "prompted", "message", HOSTILE)))
                .text("thread"));
        model.says(HOSTILE);
        browser.run("await page.locator('.message.live', { hasText: 'evil' }).waitFor()");
        model.ends();
        browser.run("await page.locator('.message.assistant:not(.live)').waitFor()");
        click("Raw");
        assertThat(texts(".message")).containsExactly(SHOWN, SHOWN);
        click("Raw");
        assertThat(texts(".message")).containsExactly(SHOWN, SHOWN.replace("**", ""));
        assertThat(count(".messages img, .messages script, .messages a, .threads img"))
                .isZero();

        String thread = ann.start("sender", "Send");
        show(thread);
        see("Approval needed");
        assertThat(texts(".decision .json").toString())
                .contains("\\u202eevil\\u202c", "\\u001b[2J", "a\\u200bb", "<script>", "12345678901234567890", "1.0")
                .doesNotContain("\u202e", "\u001b", "\u200b");
        assertThat(texts(".decision .question")).containsExactly(SHOWN);
        assertThat(texts(".decision button"))
                .containsExactly("Approve", "Edit arguments", "Approve later calls, too", "Deny", "Answer");
        assertThat(count(".thread img, .thread script, .messages a, .decisions a"))
                .isZero();
        // Approves the arguments from the editor without a change: the number is neither rounded nor rewritten.
        click("Edit arguments");
        click("Approve with these arguments");
        browser.run("await page.locator('.decision.approval').waitFor({ state: 'detached' });"
                + "await page.getByLabel('Answer').fill(" + quoted(HOSTILE) + ");"
                + "await page.getByLabel('Answer').press('Enter')");
        awaitChip("complete");
        assertThat(call(thread, "tu_1").path("args").path("id").toString()).isEqualTo("12345678901234567890");
        assertThat(call(thread, "tu_1").path("args").path("to").asText()).startsWith(HOSTILE);
        assertThat(texts(".message.asked")).containsExactly(SHOWN);
        assertThat(texts(".message.answered")).containsExactly(SHOWN);
        assertThat(texts(".message.assistant").toString())
                .contains("\\u202eevil")
                .doesNotContain("\u202e");
        assertThat(count(".messages img, .messages script, .messages a")).isZero();

        // An approval for calls that differ in one argument names the others exactly: a browser would round the number.
        String granted = ann.start("sender", "Send");
        show(granted);
        click("Approve later calls, too");
        browser.run("await page.getByLabel('rate', { exact: true }).selectOption('anything')");
        click("Approve this call and later ones");
        browser.run("await page.locator('.decision.approval').waitFor({ state: 'detached' })");
        JsonNode grant = ann.list(granted, "grants").path(0);
        assertThat(grant.path("like").at("/properties/id/const").toString()).isEqualTo("12345678901234567890");
        assertThat(grant.path("like").at("/propertyNames/enum").size()).isEqualTo(3);
        assertThat(grant.path("like").path("properties").has("rate")).isFalse();
        assertThat(browser.text("return page.title()")).endsWith("Waymark");
    }

    @Test
    void questions_areAnsweredInAnyOrder_keepingTypedText() throws Exception {
        String thread = ann.start("asker", "Book");
        ann.awaitPending(thread, 2);
        // The "since" of a pending request changes when a workflow task records the request.
        browser.run("await page.route('**/conversation', async (route) => {"
                + "  const response = await route.fetch(); const view = await response.json();"
                + "  view.pending.forEach((item) => { item.since = new Date(Date.parse(item.since) - 100).toISOString(); });"
                + "  await route.fulfill({ response, json: view }); }, { times: 1 })");
        openThread(thread);
        browser.run(card("Which day?") + "await card.getByLabel('Answer').fill('Fri')");
        see("The agent waits for your answer above.");
        assertThat(texts(".decision").get(0))
                .containsPattern("until .+\\. Then the model is told that nobody answered\\.");
        browser.run("await page.getByRole('button', { name: 'Go to the question' }).waitFor({ state: 'hidden' });"
                + "await page.setViewportSize({ width: 390, height: 300 });"
                + "await page.getByRole('button', { name: 'Go to the question' }).waitFor();"
                + "await page.setViewportSize({ width: 1280, height: 800 })");
        assertThat(isTrue("await page.getByLabel('Message', { exact: true }).count() === 0"))
                .isTrue();
        assertAccessible();
        click("Write a message instead");
        see("This is not the answer: the question stays open");
        say("By the way");
        see("The model receives this at its next call.");
        browser.run(card("Which day?")
                + "await page.waitForFunction(() => document.activeElement.closest('.decision.question') !== null);"
                + "await page.keyboard.press('End'); await page.keyboard.type('da');"
                + "const seat = page.locator('.decision', { hasText: 'Which seat?' });"
                + "await seat.getByLabel('Answer').fill('12A');"
                + "await seat.getByRole('button', { name: 'Answer' }).click();"
                + "await seat.waitFor({ state: 'detached' });"
                + "await card.getByLabel('Answer').press('End'); await page.keyboard.type('y');"
                + "await page.keyboard.press('Enter')");
        see("Booked.");
        browser.run("await page.getByLabel('Message', { exact: true }).waitFor()");
        assertThat(call(thread, "tu_1").path("result").asText()).isEqualTo("Friday");
        assertThat(call(thread, "tu_2").path("result").asText()).isEqualTo("12A");
    }

    @Test
    void unknownOutcome_isSettledWithResultAndNote() throws Exception {
        int before = requests.get();
        String thread = ann.start("payer", "Pay");
        openThread(thread);
        browser.run("await page.locator('.decision.unknown').waitFor()");
        assertThat(browser.text("return page.locator('.decision').innerText()"))
                .contains(
                        "pay",
                        "504",
                        "\"cents\": 500",
                        "Started",
                        "It did not happen …",
                        "It can’t be run again: the lost")
                .doesNotContain("Idempotency key");
        browser.run("await page.locator('.decision').getByText('Identifiers').click()");
        browser.run("await page.locator('.decision').getByText('Idempotency key').waitFor()");
        assertAccessible();
        click("It took effect …");
        browser.run("await page.getByLabel('Its result, for the model (optional)').fill('receipt 17')");
        browser.run("await page.getByLabel('Note for people').fill('in the ledger')");
        click("It took effect");
        see("So it is: receipt 17");

        assertThat(requests.get()).isEqualTo(before + 1);
        assertThat(call(thread, "tu_1").at("/settled/outcome").asText()).isEqualTo("done");
        assertThat(call(thread, "tu_1").at("/settled/note").asText()).isEqualTo("in the ledger");
    }

    /** Carol may decide; Dave, of the same group, imported the files and may not. */
    @Test
    void importedCall_isMarkedAndNotEditableIfItMayHaveRun() throws Exception {
        String fresh = imported("""
                {'schema_version':'v1','run_id':'r','thread_id':'t','step':1,'phase':'runtime_state',
                 'timestamp_ms':1790000000123,'payload':{'step':1,'state':'running','llm_calls':1,'tool_calls':0,
                 'started_at_s':1790000000,'usage':{'input_tokens':1,'output_tokens':1},'tool_executions':[],
                 'messages':[{'role':'user','content':'Go'}],'pending_llm_response':{'text':'','tool_calls':[
                 {'id':'tu_1','tool_name':'pay','arguments':{'cents':5}}]}}}
                """);
        String begun = imported("{'messages':[{'role':'user','content':'Go'},{'role':'assistant','content':["
                + "{'type':'tool_use','id':'tu_1','name':'look','input':{}}]}],'iterations':1,"
                + "'usage':{'inputTokens':1,'outputTokens':1}}");
        int before = requests.get();

        open("/#/thread/" + fresh, CAROL);
        see("This call is from a file.");
        assertThat(browser.run("return page.getByRole('button', { name: 'Edit arguments' }).count()")
                        .intValue())
                .isOne();
        assertAccessible();
        show(begun);
        see("This call is from a file and may have run before.");
        assertThat(browser.run("return page.getByRole('button', { name: 'Edit arguments' }).count()")
                        .intValue())
                .isZero();
        click("Deny");
        assertThat(requests.get()).isEqualTo(before);
    }

    private String imported(String checkpoint) throws Exception {
        HttpCaller dave = ann.as(DAVE);
        String thread = ann.as(IMPORTER)
                .post("/v1/imports", "{'agent':'payer','group':'support','checkpoint':" + checkpoint + "}")
                .text("thread");
        dave.awaitPending(thread, 1);
        return thread;
    }
}
