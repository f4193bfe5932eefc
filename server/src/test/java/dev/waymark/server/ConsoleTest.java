package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static dev.waymark.server.ServedThreads.CAROL;
import static dev.waymark.server.ServedThreads.DAVE;
import static dev.waymark.server.ServedThreads.IMPORTER;
import static dev.waymark.server.ServedThreads.LOOKER;
import static dev.waymark.server.ServedThreads.OPERATOR;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.server.http.HttpSettings;
import dev.waymark.worker.server.DevServer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The console. Only the cases of the superclass also run on other Temporal servers, because the rest does not depend on
 * the server.
 */
@Tag("full")
class ConsoleTest extends ConsoleCases {
    @Override
    DevServer temporal() throws Exception {
        return TemporalOnPostgres.startIfPossible();
    }

    @Test
    void token_isCheckedAndStoredInThisTabOnly() throws Exception {
        browser.run("await page.goto('" + server.address() + "'); await page.getByLabel('Access token').fill('wrong');"
                + "await page.getByRole('button', { name: 'Sign in' }).click()");
        see("The server does not accept this token.");
        assertThat(browser.run("return axe()")).isEmpty();
        open("/", ANN);

        assertThat(browser.text("return page.url() + JSON.stringify(await context.cookies())"
                        + " + await page.evaluate(() => JSON.stringify(localStorage))"))
                .doesNotContain(ANN)
                .endsWith("[]{}");
        browser.run("await page.reload(); await page.getByRole('navigation', { name: 'Threads' }).waitFor()");
        browser.run("await page.getByRole('button', { name: 'Sign out' }).click();"
                + "await page.getByLabel('Access token').waitFor()");
    }

    @Test
    void reply_streamsWordByWordAlsoAfterReload() throws Exception {
        String thread = ann.start("prompted", "Hello there");
        openThread(thread);
        see("Hello there");
        model.says("One ", "two ");
        see("One two");
        browser.run("await page.reload()");
        see("One two");
        model.says("three.");
        see("One two three.");
        model.ends();
        browser.run("await page.locator('.message.assistant:not(.live)').waitFor()");

        assertThat(browser.run("return page.locator('.message').allInnerTexts()")
                        .toString())
                .isEqualTo("[\"Hello there\",\"One two three.\"]");
        assertThat(browser.run("return axe()")).isEmpty();
    }

    private static final String THOUGHTS = "return page.locator('.messages details.quiet summary').allInnerTexts()";

    @Test
    void reasoning_streamsAndIsFoldedOnceTheTextBegins() throws Exception {
        String thread = ann.start("prompted", "Plan a trip");
        openThread(thread);
        model.thinks("First, I compare the trains. ");
        see("First, I compare the trains.");
        browser.run("await page.reload()");
        see("First, I compare the trains.");
        model.thinks("Then I look at the weather.");
        see("Then I look at the weather.");
        model.says("Take the night train.");
        see("Take the night train.");
        String folded = "[\"Thinking\"]";

        assertThat(browser.run(THOUGHTS).toString()).isEqualTo(folded);
        browser.run("await page.getByText('Thinking', { exact: true }).click()");
        see("First, I compare the trains. Then I look at the weather.");
        model.ends();
        browser.run("await page.locator('.message.assistant:not(.live)').waitFor()");
        assertThat(browser.run(THOUGHTS).toString()).isEqualTo(folded);
        assertThat(browser.run("return axe()")).isEmpty();
    }

    @Test
    void lostAttempt_itsTextIsRemoved() throws Exception {
        String thread = ann.start("prompted", "Hi");
        openThread(thread);
        model.says("Wrong words ");
        see("Wrong words");
        model.fails();
        model.says("Right words.");
        see("Right words.");
        model.ends();
        browser.run("await page.locator('.message.assistant:not(.live)').waitFor()");

        assertThat(browser.run("return page.locator('.message').allInnerTexts()")
                        .toString())
                .isEqualTo("[\"Hi\",\"Right words.\"]");
    }

    @Test
    void stoppedReply_staysVisibleAfterReload() throws Exception {
        String thread = ann.start("prompted", "Weather?");
        openThread(thread);
        model.says("It rains in ");
        see("It rains in");
        browser.run("await page.getByRole('button', { name: 'Stop' }).click();"
                + "await page.getByText('Stopped here. The model does not read this.').waitFor()");
        browser.run("await page.reload();"
                + "await page.getByText('Stopped here. The model does not read this.').waitFor()");

        assertThat(browser.run("return page.locator('.message').allInnerTexts()")
                        .toString())
                .startsWith("[\"Weather?\",\"It rains in");
        assertThat(browser.run("return axe()")).isEmpty();
    }

    @Test
    void hostileText_staysText() throws Exception {
        String thread = ann.post(
                        "/v1/threads",
                        PayloadJson.MAPPER.writeValueAsString(Map.of("agent", "prompted", "message", HOSTILE)))
                .text("thread");
        openThread(thread);
        model.says(HOSTILE);
        browser.run("await page.locator('.message.live', { hasText: 'evil' }).waitFor()");
        model.ends();
        browser.run("await page.locator('.message.assistant:not(.live)').waitFor()");

        browser.run("await page.locator('.reply').getByRole('button', { name: 'Raw' }).click()");
        assertThat(browser.run("return page.locator('.message').allInnerTexts()"))
                .extracting(text -> text.asText())
                .isEqualTo(List.of(SHOWN, SHOWN));
        browser.run("await page.locator('.reply').getByRole('button', { name: 'Raw' }).click()");
        assertThat(browser.run("return page.locator('.message').allInnerTexts()"))
                .extracting(text -> text.asText())
                .isEqualTo(List.of(SHOWN, SHOWN.replace("**", "")));
        assertThat(browser.run("return [await page.title(), await page.locator('.messages img, .messages script,"
                                + " .messages a, .threads img').count()]")
                        .toString())
                .endsWith("Waymark\",0]");
    }

    @Test
    void approval_runsTheShownArguments() throws Exception {
        String thread = ann.start("billing", "Pay");
        openThread(thread);
        see("Runs with exactly these arguments");
        assertThat(browser.text("return page.locator('.decision .json').innerText()"))
                .isEqualTo("{\n  \"cents\": 8400\n}");
        assertThat(browser.run("return axe()")).isEmpty();
        click("Approve");
        see("Charged.");

        assertThat(call(thread, "tu_1").at("/approval/verified/subject").asText())
                .isEqualTo("ann");
        assertThat(call(thread, "tu_1").at("/approval/edited").booleanValue()).isFalse();
        browser.run("await page.locator('.call > summary').click()");
        see("ann (verified)");
    }

    @Test
    void editedApproval_sendsAndRunsValidArgumentsOnly() throws Exception {
        String thread = ann.start("billing", "Pay");
        openThread(thread);
        click("Edit arguments");
        browser.run("await page.getByLabel('Arguments', { exact: true }).fill('{ not JSON')");
        click("Approve with these arguments");
        see("This is not JSON");
        browser.run("await page.getByLabel('Arguments', { exact: true }).fill('{\"cents\": 4200}')");
        browser.run("await page.getByLabel('Reason (optional)').fill('Half of it')");
        click("Approve with these arguments");
        see("Charged.");

        JsonNode call = call(thread, "tu_1");
        assertThat(call.path("args").toString()).isEqualTo("{\"cents\":4200}");
        assertThat(call.at("/approval/edited").booleanValue()).isTrue();
        assertThat(call.at("/approval/reason").asText()).isEqualTo("Half of it");
    }

    @Test
    void denial_tellsTheModelWhy() throws Exception {
        String thread = ann.start("billing", "Pay");
        openThread(thread);
        click("Deny");
        browser.run("await page.getByLabel('Reason, which the model is told').fill('Too dear')");
        assertThat(browser.run("return axe()")).isEmpty();
        click("Deny");
        awaitChip("complete");

        assertThat(call(thread, "tu_1").path("status").asText()).isEqualTo("denied");
        assertThat(call(thread, "tu_1").path("result").asText()).contains("Too dear");
    }

    @Test
    void twoQuestions_areAnsweredInAnyOrderKeepingTypedText() throws Exception {
        String thread = ann.start("asker", "Book");
        openThread(thread);
        browser.run("const cards = page.locator('.decision');"
                + "await cards.filter({ hasText: 'Which day?' }).getByLabel('Answer').fill('Fri');"
                + "await cards.filter({ hasText: 'Which seat?' }).getByLabel('Answer').fill('12A');"
                + "await cards.filter({ hasText: 'Which seat?' }).getByRole('button', { name: 'Answer' }).click();"
                + "await cards.filter({ hasText: 'Which seat?' }).waitFor({ state: 'detached' });"
                + "await cards.getByLabel('Answer').press('End'); await page.keyboard.type('day');"
                + "await page.keyboard.press('Enter')");
        see("Booked.");

        assertThat(call(thread, "tu_1").path("result").asText()).isEqualTo("Friday");
        assertThat(call(thread, "tu_2").path("result").asText()).isEqualTo("12A");
    }

    /** The {@code since} of a pending request changes when a workflow task records the request. */
    @Test
    void typedText_survivesAChangedTimeOfTheQuestion() throws Exception {
        String thread = ann.start("asker", "Book");
        ann.awaitPending(thread, 2);
        browser.run("await page.route('**/conversation', async (route) => {"
                + "  const response = await route.fetch(); const view = await response.json();"
                + "  view.pending.forEach((item) => { item.since = new Date(Date.parse(item.since) - 100).toISOString(); });"
                + "  await route.fulfill({ response, json: view }); }, { times: 1 })");
        openThread(thread);
        browser.run("const field = page.locator('.decision').filter({ hasText: 'Which day?' }).getByLabel('Answer');"
                + "await field.fill('Fri')");

        ann.post("/v1/threads/" + thread + "/answer", "{'callId':'tu_2','answer':'12A'}");

        browser.run("await page.locator('.decision').filter({ hasText: 'Which seat?' }).waitFor({ state: 'detached' });"
                + "await page.locator('.decision').getByLabel('Answer').press('End');"
                + "await page.keyboard.type('day'); await page.keyboard.press('Enter')");
        see("Booked.");

        assertThat(call(thread, "tu_1").path("result").asText()).isEqualTo("Friday");
    }

    @Test
    void unknownOutcome_isSettledWithResultAndNote() throws Exception {
        int before = requests.get();
        String thread = ann.start("payer", "Pay");
        openThread(thread);
        browser.run("await page.locator('.decision.unknown').waitFor({ timeout: 60000 })");
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
        assertThat(browser.run("return axe()")).isEmpty();
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
        assertThat(browser.run("return axe()")).isEmpty();
        browser.run("await page.evaluate((thread) => { location.hash = `#/thread/${thread}`; }, '" + begun + "')");
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

    @Test
    void hostileArgumentsAndQuestion_areEscapedAndRunExactly() throws Exception {
        String thread = ann.start("sender", "Send");
        openThread(thread);
        see("Approval needed");
        String shown = browser.text("return page.locator('.decision .json').innerText()");
        assertThat(shown)
                .contains("\\u202eevil\\u202c", "\\u001b[2J", "a\\u200bb", "<script>", "12345678901234567890", "1.0")
                .doesNotContain("\u202e", "\u001b", "\u200b");
        assertThat(browser.text("return page.locator('.decision .question').innerText()"))
                .isEqualTo(SHOWN);
        assertThat(browser.run(
                                "return [await page.title(), await page.locator('.thread img, .thread script, .messages a,"
                                        + " .decisions a').count(), await page.locator('.decision').count(),"
                                        + " await page.locator('.decision button').allInnerTexts()]")
                        .toString())
                .endsWith(
                        "Waymark\",0,2,[\"Approve\",\"Edit arguments\",\"Approve later calls, too\",\"Deny\",\"Answer\"]]");
        // Approves the arguments from the editor without a change: the number is neither rounded nor rewritten.
        click("Edit arguments");
        click("Approve with these arguments");
        browser.run("await page.locator('.decision.approval').waitFor({ state: 'detached' })");
        browser.run("await page.getByLabel('Answer').fill('x'); await page.keyboard.press('Enter')");
        awaitChip("complete");

        assertThat(call(thread, "tu_1").path("args").path("id").toString()).isEqualTo("12345678901234567890");
        assertThat(call(thread, "tu_1").path("args").path("to").asText()).startsWith(HOSTILE);
        assertThat(browser.text("return page.locator('.message.assistant').last().innerText()"))
                .contains("\\u202eevil")
                .doesNotContain("\u202e");
    }

    @Test
    void decisionMadeElsewhere_removesTheCard() throws Exception {
        String thread = ann.start("billing", "Pay");
        openThread(thread);
        see("Runs with exactly these arguments");
        // Cuts off the page's own stream, so that the page does not see the other decision.
        browser.run("await context.setOffline(true)");
        String digest = ann.list(thread, "pending").at("/0/argsDigest").asText();
        ann.post("/v1/threads/" + thread + "/deny", "{'callId':'tu_1','argsDigest':'" + digest + "'}");
        browser.run("await context.setOffline(false)");
        browser.run("await page.locator('.decision').waitFor({ state: 'detached' })");
        awaitChip("complete");
    }

    @Test
    void timeline_showsComparesAndForksEarlierVersions() throws Exception {
        String thread = ann.start("asker", "Book");
        openThread(thread);
        see("Which day?");
        browser.run("await page.locator('body').press('t')");
        see("Version 1");
        for (String answer : List.of("Friday", "12A")) {
            browser.run("await page.locator('.decision').first().getByLabel('Answer').fill('" + answer + "');"
                    + "await page.keyboard.press('Enter'); await page.waitForTimeout(100)");
        }
        see("Booked.");
        browser.run("await page.locator('.changes .added', { hasText: 'Booked.' }).waitFor()");
        assertThat(browser.run("return axe()")).isEmpty();
        browser.run("await page.getByRole('slider', { name: 'Version' }).fill('1')");
        see("Back to now");
        browser.run("await page.locator('.message.assistant', { hasText: 'Booked.' }).waitFor({ state: 'detached' })");
        assertThat(browser.run("return page.locator('.decision').count()").intValue())
                .isZero();
        browser.run(
                "const last = await page.getByLabel('Changes since').locator('option').last().getAttribute('value');"
                        + "await page.getByLabel('Changes since').selectOption(last);"
                        + "await page.locator('.changes .removed', { hasText: 'Booked.' }).waitFor()");
        browser.run("await page.getByLabel('Message (optional)').fill('Another way')");
        click("Fork");
        browser.run("await page.waitForFunction((old) => !location.hash.includes(old), '" + thread + "');"
                + "await page.locator('.message', { hasText: 'Another way' }).waitFor()");

        assertThat(ann.get("/v1/threads/" + thread).text("status")).isEqualTo("complete");
    }

    @Test
    void timeline_showsTheCommandThatRehearsesFromAVersion() throws Exception {
        String thread = ann.start("asker", "Book");
        openThread(thread);
        see("Which day?");
        browser.run("await page.locator('body').press('t')");
        see("Rehearse from here");

        String command = browser.text("return page.locator('.rehearsal pre').innerText()");
        assertThat(command).isEqualTo("./waymark rehearse " + thread + " --from 1 --html " + thread + "-1.html");
        browser.run("await context.grantPermissions(['clipboard-read', 'clipboard-write']);"
                + "await page.locator('.rehearsal').getByRole('button', { name: 'Copy' }).click();"
                + "await page.getByText('Copied').first().waitFor()");
        assertThat(browser.text("return page.evaluate(() => navigator.clipboard.readText())"))
                .isEqualTo(command);
        assertThat(browser.run("return axe()")).isEmpty();

        for (String answer : List.of("Friday", "12A")) {
            browser.run("await page.locator('.decision').first().getByLabel('Answer').fill('" + answer + "');"
                    + "await page.keyboard.press('Enter'); await page.waitForTimeout(100)");
        }
        see("Booked.");
        browser.run("await page.locator('.rehearsal pre', { hasText: '--from 3' }).waitFor();"
                + "await page.getByRole('slider', { name: 'Version' }).fill('2');"
                + "await page.locator('.rehearsal pre', { hasText: '--from 2' }).waitFor()");
    }

    @Test
    void threadIds_areQuotedForTheShell() throws Exception {
        open("/#/new", ANN);

        for (String id : List.of("trip", "trip/child-1", "a b", "$(touch x)", "it's", "x;y", "a\nb", "`id`", "")) {
            String word = browser.text("return page.evaluate(async (id) => (await import('/console/format.js'))"
                    + ".shellWord(id), " + PayloadJson.MAPPER.writeValueAsString(id) + ")");
            Process shell = new ProcessBuilder("sh", "-c", "printf %s " + word).start();
            assertThat(new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .as(word)
                    .isEqualTo(id);
        }
    }

    @Test
    void subagents_formATree_andTheRootDecidesTheirApprovals() throws Exception {
        String thread = ann.start("boss", "Go");
        openThread(thread);
        see("Approval needed");
        click("Details");
        browser.run("await page.locator('.tree .tree a, .tree ul a').waitFor()");
        assertThat(browser.text("return page.locator('.details').innerText()"))
                .contains("$0.0045 of $1.50", "boss", "billing", "of 100,000");
        assertThat(browser.run("return axe()")).isEmpty();
        click("Approve");
        see("The clerk says: Charged.");
        browser.run("await page.locator('.tree ul a').click();"
                + "await page.locator('.thread-header h1', { hasText: 'billing' }).waitFor()");
        see("Works for");
    }

    @Test
    void thread_isStartedStoppedAndClosed() throws Exception {
        open("/", ANN);
        browser.run("await page.getByRole('link', { name: 'New thread' }).first().click();"
                + "await page.getByRole('radio', { name: /assistant/ }).check()");
        assertThat(browser.run("return axe()")).isEmpty();
        browser.run("await page.getByLabel('First message').fill('Hello from the console')");
        click("Start");
        see("Hello.");
        click("Details");
        click("Close …");
        click("Close thread");
        see("This thread is closed.");
        click("Continue in a new thread");
        awaitChip("complete");

        String asking = ann.start("asker", "Book");
        browser.run("await page.evaluate((thread) => { location.hash = `#/thread/${thread}`; }, '" + asking + "')");
        see("Which day?");
        click("Stop");
        awaitChip("stopped");
        // The panel with details stays open when another thread is shown.
        click("Cancel …");
        click("Cancel thread");
        see("This thread is closed.");
    }

    @Test
    void questionBeforeAThreadEnds_survivesAnUpdate() throws Exception {
        String thread = ann.start("asker", "Book");
        openThread(thread);
        see("Which seat?");
        click("Details");
        click("Cancel …");

        ann.post("/v1/threads/" + thread + "/answer", "{'callId':'tu_2','answer':'12A'}");

        browser.run(
                "await page.locator('.decision').filter({ hasText: 'Which seat?' }).waitFor({ state: 'detached' })");
        click("Cancel thread");
        see("This thread is closed.");
    }

    @Test
    void replyOfAFallback_namesItsModel() throws Exception {
        String thread = ann.start("served", "Go");
        open("/#/thread/" + thread, ANN);
        see("From the spare model.");
        click("Details");
        see("scripted:spare.script.yaml");
        see(": 1 answer");
    }

    @Test
    void limits_canBeRaisedByOperatorsOnly() throws Exception {
        HttpCaller operator = ann.as(OPERATOR);
        String thread = operator.start("boss", "Go");
        open("/#/thread/" + thread, OPERATOR);
        see("Waits for somebody who may decide.");
        click("Details");
        browser.run("await page.getByText('Raise limits').click(); await page.getByLabel('Dollars').fill('2.5')");
        click("Raise");
        see("of $2.50");
    }

    @Test
    void actionsWithoutRole_areNotOffered() throws Exception {
        String thread = ann.start("billing", "Pay");
        open("/#/thread/" + thread, LOOKER);
        see("Waits for somebody who may decide.");
        see("Your role allows you to read.");

        assertThat(browser.run("return page.getByRole('button').allInnerTexts()")
                        .toString())
                .doesNotContain("Approve", "Deny", "Stop", "Send", "Fork");
        assertThat(browser.run("return page.getByRole('link', { name: 'New thread' }).count()")
                        .intValue())
                .isZero();
    }

    /** Holds the answers to requests for the list, until `pass()`. */
    private static final String HELD_LISTS = "globalThis.pass = undefined;"
            + "await page.route(/\\/v1\\/threads\\?/, async (route) => {"
            + "  await new Promise((resolve) => { globalThis.pass = resolve; }); await route.continue(); });";

    private static final String HELD = "while (globalThis.pass === undefined) await page.waitForTimeout(20);"
            + "return await page.locator('nav .threads li').count() + ' ' + await page.locator('.list-note').innerText()";

    @Test
    void changedFilters_hideTheOldListUntilTheNewOneArrives() throws Exception {
        ann.start("assistant", "A needle that is listed");
        open("/", ANN);
        browser.run("await page.locator('.threads li').first().waitFor();" + HELD_LISTS
                + "await page.getByLabel('Search threads').fill('nothing has these words')");

        assertThat(browser.text(HELD)).isEqualTo("0 Reading …");
        browser.run("pass(); await page.getByText('No thread matches.').waitFor(); globalThis.pass = undefined;"
                + "await page.getByLabel('Search threads').fill('needle that is')");
        assertThat(browser.text(HELD)).isEqualTo("0 Reading …");
        browser.run("pass(); await page.locator('.threads a', { hasText: 'A needle that is listed' }).waitFor()");
        assertThat(browser.text("return page.locator('.list-note').innerText()"))
                .isEmpty();
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
    void waitingForYou_isShownOnlyToCallersWhoMayDecide() throws Exception {
        String thread = ann.start("billing", "Pay");
        openThread(thread);
        awaitChip("waiting for you");
        browser.run("await fresh()");
        open("/#/thread/" + thread, LOOKER);
        awaitChip("waiting for a person");

        click("Details");
        see("Model calls");
        assertThat(browser.text("return page.locator('body').innerText()"))
                .doesNotContain("waiting for you")
                .doesNotContain("waits for you");
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
    void keyboardPhoneAndDarkMode_areAccessible() throws Exception {
        ann.start("assistant", "Older");
        String newer = ann.start("assistant", "Newer");
        openThread(newer);
        see("Hello.");
        browser.run("await page.locator('body').press('?'); await page.getByText('Keyboard shortcuts').waitFor()");
        assertThat(browser.run("return axe()")).isEmpty();
        browser.run("await page.keyboard.press('Escape');"
                + "await page.getByText('Keyboard shortcuts').waitFor({ state: 'hidden' });"
                + "await page.locator('.threads a[aria-current]').waitFor();"
                + "await page.locator('body').press('j');"
                + "await page.waitForFunction((old) => !location.hash.includes(old), '" + newer + "')");
        browser.run("await fresh({ colorScheme: 'dark', viewport: { width: 390, height: 760 } })");
        String asked = ann.start("billing", "Pay");
        openThread(asked);
        see("Runs with exactly these arguments");
        assertThat(browser.run("return axe()")).isEmpty();
        assertThatThePageFits();
        browser.run("await page.getByRole('link', { name: 'Back to the list' }).click();"
                + "await page.getByLabel('Search threads').waitFor()");
        assertThat(browser.run("return axe()")).isEmpty();
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

    @Test
    void search_filtersOnTheServerByTextStatusAgentAndTime() throws Exception {
        ann.start("assistant", "Needle 4711 in the haystack");
        for (int i = 0; i < 3; i++) {
            ann.start("assistant", "Straw " + i);
        }
        String failed = ann.start("prompted", "Needle that fails");
        open("/", ANN);
        browser.run("await page.getByLabel('Search threads').fill('needle');"
                + "await page.waitForFunction(() => document.querySelectorAll('.threads li').length === 2)");
        assertThat(browser.run("return axe()")).isEmpty();
        browser.run("await page.getByLabel('Agent').selectOption('prompted');"
                + "await page.waitForFunction(() => document.querySelectorAll('.threads li').length === 1)");
        browser.run("await page.getByLabel('Changed').selectOption('Since yesterday')");
        browser.run("await page.getByRole('button', { name: 'Failed' }).click()");
        see("No failed thread matches.");
        model.failsForGood();
        // The stream of the list brings the thread as soon as it has failed.
        browser.run("await page.locator('.threads a', { hasText: 'Needle that fails' }).waitFor()");
        browser.run("await page.locator('.threads a').click()");
        awaitChip("failed");
        assertThat(browser.text("return page.url()")).contains(failed);
    }

    @Test
    void openPage_usesOneStreamForTheList() throws Exception {
        open("/", ANN);
        see("New thread");
        browser.run("globalThis.lists = []; page.on('request', (request) => {"
                + "  if (/\\/v1\\/threads(\\?|$)/.test(request.url())) lists.push(request.url()); })");
        String thread = ann.start("assistant", "Comes by itself");
        browser.run("await page.locator('.threads a', { hasText: 'Comes by itself' }).waitFor();"
                + "await page.waitForTimeout(6000)");

        assertThat(browser.run("return lists")).isEmpty();
        assertThat(ann.get("/v1/threads/" + thread).text("status")).isEqualTo("complete");
    }

    @Test
    void details_linkToTheRunInTheWebUi() throws Exception {
        ApiServer linked = threads.serve(HttpSettings.at("127.0.0.1", 0)
                .withLimits(1_000, 200, 1_000)
                .withWebUi(Optional.of("http://127.0.0.1:8233/")));
        String thread = ann.start("assistant", "Hi");
        browser.run("await open('" + linked.address() + "/#/thread/" + thread + "?panel=details', '" + ANN + "')");

        assertThat(browser.text("return page.getByRole('link', { name: 'Open in the Web UI' }).getAttribute('href')"))
                .isEqualTo("http://127.0.0.1:8233/namespaces/default/workflows/" + thread + "/"
                        + ann.get("/v1/threads/" + thread).text("runId") + "/history");
        openThread(thread);
        click("Details");
        see("Model calls");
        assertThat(browser.run("return page.getByRole('link', { name: 'Web UI' }).count()")
                        .intValue())
                .isZero();
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
        browser.run(KEYBOARD + "await page.keyboard.press('w'); await tabTo('button', 'Edit arguments');"
                + "await page.keyboard.press('Enter'); await tabTo('textbox', 'Arguments');"
                + "await page.keyboard.press('Control+A'); await page.keyboard.type('{\"usd\": 60}');"
                + "await tabTo('button', 'Approve with these arguments'); await page.keyboard.press('Enter');");
        see("Refunded.");
        browser.run(KEYBOARD + "await page.evaluate(() => document.activeElement.blur());"
                + "await page.keyboard.press('/'); await page.keyboard.type('royal box');"
                + "await page.waitForFunction(() => document.querySelectorAll('.threads li').length === 1);"
                + "await tabTo('link', 'Book the royal box'); await page.keyboard.press('Enter');");
        see("Which day?");
        browser.run(KEYBOARD + "await page.keyboard.press('w'); await page.keyboard.type('Friday');"
                + "await page.keyboard.press('Enter');");
        browser.run("await page.getByText('Which day?').last().waitFor();"
                + "await page.waitForFunction(() => document.querySelectorAll('.decision').length === 1)");
        browser.run(KEYBOARD + "await page.keyboard.press('w'); await page.keyboard.type('12A');"
                + "await page.keyboard.press('Enter');");
        see("Booked.");
        browser.run(
                KEYBOARD + "await page.evaluate(() => document.activeElement.blur()); await page.keyboard.press('/');"
                        + "await page.keyboard.press('Control+A'); await page.keyboard.type('failed yesterday');"
                        + "await page.evaluate(() => document.activeElement.blur()); await page.keyboard.press('4');"
                        + "await page.waitForFunction(() => document.querySelectorAll('.threads li').length === 1);"
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

    @Test
    void revokedToken_leadsToTheSignIn() throws Exception {
        String known = Files.readString(threads.tokens());
        open("/", ANN);
        see("New thread");
        try {
            Files.writeString(threads.tokens(), "{\"tokens\":[]}");
            browser.run("await page.getByLabel('Access token').waitFor({ timeout: 30000 })");
        } finally {
            Files.writeString(threads.tokens(), known);
        }
    }

    /** Without authentication, as in {@code dev}: the browser sends the requests, and the server refuses them. */
    @Test
    void pageOfAnotherOrigin_cannotReadOrDecide() throws Exception {
        ApiServer unchecked = threads.serveUnchecked(HttpSettings.at("127.0.0.1", 0));
        HttpCaller anybody = HttpCaller.of(unchecked, "").asNobody();
        String thread = anybody.start("billing", "Pay");
        await().until(() -> anybody.list(thread, "pending").size() == 1);
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
