package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static dev.waymark.server.ServedThreads.IMPORTER;
import static dev.waymark.server.ServedThreads.OPERATOR;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.PayloadJson;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests whose response was lost are repeated at any instance, and take effect once. */
@Tag("full")
class RepeatedRequestsTest {
    @TempDir
    private static Path directory;

    private static ServedThreads threads;
    private static HttpCaller ann;

    @BeforeAll
    static void start() throws Exception {
        Path agents = Files.createDirectories(directory.resolve("agents"));
        Files.writeString(agents.resolve("payer.yaml"), """
                model: scripted:payer.script.yaml
                tools:
                  - use: ask_user
                  - name: charge_card
                    description: Charges
                    input: { type: object, required: [cents], properties: { cents: { type: integer } } }
                    command: ["cat"]
                    approval: always
                """);
        Files.writeString(agents.resolve("payer.script.yaml"), """
                replies:
                  - tool_calls:
                      - { id: tu_1, name: ask_user, input: { question: "Whose card?" } }
                      - { id: tu_2, name: charge_card, input: { cents: 8400 } }
                  - text: Paid.
                """);
        Files.writeString(agents.resolve("sender.yaml"), """
                model: scripted:sender.script.yaml
                tools:
                  - name: send_letter
                    description: Sends
                    input: { type: object }
                    command: ["sh", "-c", "kill -9 $$"]
                    on_unknown: ask
                """);
        Files.writeString(agents.resolve("sender.script.yaml"), """
                replies:
                  - tool_calls: [{ id: tu_1, name: send_letter, input: {} }]
                  - text: Sent.
                """);
        threads = ServedThreads.inMemory(directory, Map.of());
        ann = HttpCaller.of(threads.serve(), ANN);
    }

    @AfterAll
    static void stop() throws Exception {
        threads.close();
    }

    private static String problem(HttpCaller.Answer answer) {
        return answer.status() + " " + answer.body().path("code").asText();
    }

    private static void awaitStatus(String thread, String status) {
        await().atMost(Duration.ofMinutes(1))
                .untilAsserted(() -> assertThat(ann.get("/v1/threads/" + thread).text("status"))
                        .isEqualTo(status));
    }

    private static JsonNode pending(String thread) throws Exception {
        return ann.list(thread, "pending");
    }

    private static JsonNode calls(String thread) throws Exception {
        return ann.list(thread, "calls");
    }

    private static JsonNode messages(String thread) throws Exception {
        return ann.list(thread, "messages");
    }

    // ---- the HTTP API

    @Test
    void say_reusedKeyWithAnotherText_isRefused() throws Exception {
        String thread = ann.start("assistant", "Hi");
        awaitStatus(thread, "complete");
        String say = "/v1/threads/" + thread + "/say";
        HttpCaller.Answer first = ann.post(say, "{'message':'More'}", "say-1");

        assertThat(problem(ann.post(say, "{'message':'Other'}", "say-1"))).isEqualTo("409 KeyReused");

        HttpCaller.Answer again = ann.at(threads.serve()).post(say, "{'message':'More'}", "say-1");
        assertThat(again.status()).isEqualTo(202);
        assertThat(again.body()).isEqualTo(first.body());
        awaitStatus(thread, "complete");
        await().atMost(Duration.ofMinutes(1)).until(() -> messages(thread).size() == 4);
        assertThat(messages(thread).toString()).contains("More").doesNotContain("Other");
    }

    @Test
    void answer_reusedKeyWithAnotherText_isRefused() throws Exception {
        String thread = ann.start("asker", "Book");
        awaitStatus(thread, "interrupted");
        String answer = "/v1/threads/" + thread + "/answer";
        HttpCaller.Answer first = ann.post(answer, "{'callId':'tu_1','answer':'Friday'}", "answer-1");

        assertThat(problem(ann.post(answer, "{'callId':'tu_1','answer':'Monday'}", "answer-1")))
                .isEqualTo("409 KeyReused");
        assertThat(problem(ann.post(answer, "{'callId':'tu_2','answer':'Friday'}", "answer-1")))
                .isEqualTo("409 KeyReused");

        assertThat(ann.post(answer, "{'callId':'tu_1','answer':'Friday'}", "answer-1")
                        .body())
                .isEqualTo(first.body());
        assertThat(pending(thread).findValuesAsText("callId")).containsExactly("tu_2");
    }

    @Test
    void budget_reusedKeyWithAnotherLimit_isRefused() throws Exception {
        HttpCaller operator = ann.as(OPERATOR);
        String thread = operator.start("asker", "Book");
        await().atMost(Duration.ofMinutes(1))
                .until(() ->
                        operator.get("/v1/threads/" + thread).text("status").equals("interrupted"));
        String budget = "/v1/threads/" + thread + "/budget";
        HttpCaller.Answer first = operator.post(budget, "{'iterations':30}", "budget-1");
        assertThat(first.status()).isEqualTo(202);

        assertThat(problem(operator.post(budget, "{'iterations':40}", "budget-1")))
                .isEqualTo("409 KeyReused");

        assertThat(operator.post(budget, "{'iterations':30}", "budget-1").body())
                .isEqualTo(first.body());
        assertThat(operator.post(budget, "{'iterations':31}", "budget-2").status())
                .isEqualTo(202);
    }

    @Test
    void fork_repeated_returnsTheSameThread() throws Exception {
        String thread = ann.start("assistant", "Hi");
        awaitStatus(thread, "complete");
        String fork = "/v1/threads/" + thread + "/fork";
        HttpCaller.Answer first = ann.post(fork, "{'message':'More'}", "fork-1");
        assertThat(first.status()).isEqualTo(201);
        assertThat(ann.post("/v1/threads/" + thread + "/say", "{'message':'On'}")
                        .status())
                .isEqualTo(202);
        await().atMost(Duration.ofMinutes(1)).until(() -> messages(thread).size() == 4);

        HttpCaller.Answer again = ann.at(threads.serve()).post(fork, "{'message':'More'}", "fork-1");

        assertThat(again.status()).as(again.body().toString()).isEqualTo(201);
        assertThat(again.body()).isEqualTo(first.body());
        awaitStatus(first.text("thread"), "complete");
        assertThat(messages(first.text("thread"))).hasSize(4);
    }

    @Test
    void fork_reusedKeyWithAnotherRequest_isRefused() throws Exception {
        String thread = ann.start("assistant", "Hi");
        String other = ann.start("assistant", "Hi");
        awaitStatus(thread, "complete");
        awaitStatus(other, "complete");
        assertThat(ann.post("/v1/threads/" + thread + "/fork", "{'message':'More'}", "fork-2")
                        .status())
                .isEqualTo(201);

        assertThat(problem(ann.post("/v1/threads/" + thread + "/fork", "{'message':'Less'}", "fork-2")))
                .isEqualTo("409 KeyReused");
        assertThat(problem(ann.post("/v1/threads/" + thread + "/fork", "{'message':'More','at':'1'}", "fork-2")))
                .isEqualTo("409 KeyReused");
        assertThat(problem(ann.post("/v1/threads/" + other + "/fork", "{'message':'More'}", "fork-2")))
                .isEqualTo("409 KeyReused");
    }

    private static String closed(String message) throws Exception {
        String thread = ann.post("/v1/threads", "{'agent':'assistant','message':'" + message + "','once':true}")
                .text("thread");
        await().atMost(Duration.ofMinutes(1))
                .until(() ->
                        !ann.get("/v1/threads/" + thread).body().path("open").booleanValue());
        return thread;
    }

    @Test
    void resume_reusedKeyWithAnotherRequest_isRefused() throws Exception {
        String thread = closed("Hi");
        String other = closed("Ho");
        String resume = "/v1/threads/" + thread + "/resume";
        HttpCaller.Answer first = ann.post(resume, "{'answer':'On'}", "resume-1");
        assertThat(first.status()).as(first.body().toString()).isEqualTo(201);

        assertThat(problem(ann.post(resume, "{'answer':'Off'}", "resume-1"))).isEqualTo("409 KeyReused");
        assertThat(problem(ann.post(resume, "{}", "resume-1"))).isEqualTo("409 KeyReused");
        assertThat(problem(ann.post("/v1/threads/" + other + "/resume", "{'answer':'On'}", "resume-1")))
                .isEqualTo("409 KeyReused");

        HttpCaller.Answer again = ann.at(threads.serve()).post(resume, "{'answer':'On'}", "resume-1");
        assertThat(again.status()).isEqualTo(201);
        assertThat(again.body()).isEqualTo(first.body());
        awaitStatus(first.text("thread"), "complete");
        assertThat(messages(first.text("thread"))).hasSize(4);
    }

    private static String imported(String thread, String more) throws Exception {
        JsonNode checkpoint =
                ann.get("/v1/threads/" + thread + "/checkpoint?format=thread").body();
        return "{'checkpoint':" + checkpoint.toString().replace("'", "\\u0027") + ",'answer':'On'" + more + "}";
    }

    @Test
    void import_reusedKeyWithAnotherRequest_isRefused() throws Exception {
        HttpCaller importer = ann.as(IMPORTER);
        String thread = closed("Hi");
        String checkpoint = imported(thread, ",'agent':'assistant'");
        HttpCaller.Answer first = importer.post("/v1/imports", checkpoint, "import-1");
        assertThat(first.status()).as(first.body().toString()).isEqualTo(201);

        assertThat(problem(importer.post("/v1/imports", checkpoint.replace("'On'", "'Off'"), "import-1")))
                .isEqualTo("409 KeyReused");
        assertThat(problem(importer.post(
                        "/v1/imports", imported(thread, ",'agent':'assistant','group':'support'"), "import-1")))
                .isEqualTo("409 KeyReused");
        assertThat(problem(importer.post("/v1/imports", imported(closed("Ho"), ",'agent':'assistant'"), "import-1")))
                .isEqualTo("409 KeyReused");

        HttpCaller.Answer again = importer.at(threads.serve()).post("/v1/imports", checkpoint, "import-1");
        assertThat(again.status()).isEqualTo(201);
        assertThat(again.body()).isEqualTo(first.body());
    }

    // ---- AG-UI

    private static HttpResponse<String> agui(String agent, String body) throws Exception {
        return ann.http().send(ann.posting("/v1/agui/" + agent, body).build(), HttpResponse.BodyHandlers.ofString());
    }

    private static String said(String thread, String run, String id, String text) {
        return "{'threadId':'" + thread + "','runId':'" + run + "','messages':[{'id':'" + id
                + "','role':'user','content':'" + text + "'}]}";
    }

    private static String resumed(String thread, String run, String... answers) {
        return "{'threadId':'" + thread + "','runId':'" + run + "','messages':[],'resume':[" + String.join(",", answers)
                + "]}";
    }

    private static String resolved(String interrupt, String payload) {
        return "{'interruptId':'" + interrupt + "','status':'resolved','payload':" + payload + "}";
    }

    private static List<JsonNode> events(HttpResponse<String> response) throws Exception {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        List<JsonNode> events = new ArrayList<>();
        for (String line : response.body().lines().toList()) {
            if (line.startsWith("data: ")) {
                events.add(HttpCaller.checked("AgUiEvent", PayloadJson.MAPPER.readTree(line.substring(6))));
            }
        }
        return events;
    }

    private static String problem(HttpResponse<String> response) throws Exception {
        return response.statusCode() + " "
                + PayloadJson.MAPPER.readTree(response.body()).path("code").asText();
    }

    /** Starts a run that ends with interrupts, and returns the id of the thread on the server. */
    private static String interrupted(String agent, String thread) throws Exception {
        List<JsonNode> events = events(agui(agent, said(thread, "run-1", "m-1", "Go")));
        assertThat(events.get(events.size() - 1).at("/outcome/type").asText()).isEqualTo("interrupt");
        return events.get(0).at("/metadata/waymark/thread").asText();
    }

    private static JsonNode lastInterrupt(List<JsonNode> events) {
        return events.get(events.size() - 1).at("/outcome/interrupts/0");
    }

    private static String lastOutcome(List<JsonNode> events) {
        return events.get(events.size() - 1).at("/outcome/type").asText();
    }

    @Test
    void agUiMessage_reusedIdWithAnotherText_isRefused() throws Exception {
        List<JsonNode> first = events(agui("assistant", said("talk", "run-1", "m-1", "Hello")));
        String thread = first.get(0).at("/metadata/waymark/thread").asText();

        assertThat(problem(agui("assistant", said("talk", "run-2", "m-1", "Bye"))))
                .isEqualTo("409 KeyReused");
        events(agui("assistant", said("talk", "run-3", "m-2", "More")));
        assertThat(problem(agui("assistant", said("talk", "run-4", "m-2", "Less"))))
                .isEqualTo("409 KeyReused");

        assertThat(lastOutcome(events(agui("assistant", said("talk", "run-1", "m-1", "Hello")))))
                .isEqualTo("success");
        assertThat(lastOutcome(events(agui("assistant", said("talk", "run-3", "m-2", "More")))))
                .isEqualTo("success");
        assertThat(messages(thread)).hasSize(4);
    }

    @Test
    void agUiResume_withOneInvalidAnswer_sendsNone() throws Exception {
        String thread = interrupted("payer", "none-sent");
        String charge = "tu_2~" + pending(thread).get(1).path("argsDigest").asText();

        assertThat(problem(agui(
                        "payer",
                        resumed(
                                "none-sent",
                                "run-2",
                                resolved("tu_1", "'Ann'"),
                                resolved(charge, "{'approved':true,'args':{'cents':'many'}}")))))
                .isEqualTo("400 BadInput");
        assertThat(problem(agui(
                        "payer",
                        resumed(
                                "none-sent",
                                "run-3",
                                resolved("tu_1", "'Ann'"),
                                resolved("tu_2~" + "0".repeat(64), "{'approved':true}")))))
                .isEqualTo("409 ArgsChanged");
        assertThat(problem(agui(
                        "payer", resumed("none-sent", "run-4", resolved("tu_1", "'Ann'"), resolved("tu_1", "'Bob'")))))
                .isEqualTo("400 BadInput");

        assertThat(pending(thread)).hasSize(2);
    }

    @Test
    void agUiResume_ofACallThatNeverWaited_isNotFound() throws Exception {
        String thread = interrupted("payer", "unknown");

        assertThat(problem(agui("payer", resumed("unknown", "run-2", resolved("tu_9", "'Ann'")))))
                .isEqualTo("404 NotFound");
        assertThat(problem(agui(
                        "payer",
                        resumed(
                                "unknown",
                                "run-3",
                                resolved("tu_9~" + "0".repeat(64), "{'approved':true}"),
                                resolved("tu_1", "'Ann'")))))
                .isEqualTo("404 NotFound");

        assertThat(pending(thread)).hasSize(2);
    }

    @Test
    void agUiResume_repeated_answersOnce() throws Exception {
        String thread = interrupted("payer", "twice");
        String charge = "tu_2~" + pending(thread).get(1).path("argsDigest").asText();
        String resume = resumed("twice", "run-2", resolved("tu_1", "'Ann'"), resolved(charge, "{'approved':true}"));
        List<JsonNode> first = events(agui("payer", resume));

        List<JsonNode> again = events(agui("payer", resume));

        assertThat(lastOutcome(first)).isEqualTo("success");
        assertThat(again).isEqualTo(first);
        assertThat(calls(thread).findValuesAsText("status")).containsExactly("completed", "completed");
        assertThat(problem(agui("payer", resumed("twice", "run-2", resolved("tu_1", "'Bob'")))))
                .isEqualTo("409 KeyReused");
        assertThat(problem(agui("payer", resumed("twice", "run-3", resolved("tu_1", "'Bob'")))))
                .isEqualTo("409 AlreadyDecided");
    }

    @Test
    void agUiResume_partlyReceived_sendsTheRest() throws Exception {
        String thread = interrupted("payer", "half");
        String charge = "tu_2~" + pending(thread).get(1).path("argsDigest").asText();
        List<JsonNode> half = events(agui("payer", resumed("half", "run-2", resolved("tu_1", "'Ann'"))));
        assertThat(lastOutcome(half)).isEqualTo("interrupt");

        List<JsonNode> whole = events(agui(
                "payer", resumed("half", "run-2", resolved("tu_1", "'Ann'"), resolved(charge, "{'approved':true}"))));

        assertThat(lastOutcome(whole)).isEqualTo("success");
        assertThat(calls(thread).findValuesAsText("status")).containsExactly("completed", "completed");
    }

    @Test
    void agUiSettlement_repeated_settlesOnce() throws Exception {
        List<JsonNode> asked = events(agui("sender", said("settled", "run-1", "m-1", "Go")));
        assertThat(lastInterrupt(asked).at("/metadata/whyNoRerun").asText()).contains("may still take effect");
        String thread = asked.get(0).at("/metadata/waymark/thread").asText();
        String resume = resumed(
                "settled",
                "run-2",
                resolved("tu_1", "{'outcome':'done','result':'It was sent.','note':'in the outbox'}"));
        List<JsonNode> first = events(agui("sender", resume));

        assertThat(events(agui("sender", resume))).isEqualTo(first);
        assertThat(problem(agui("sender", resumed("settled", "run-3", resolved("tu_1", "{'outcome':'give-up'}")))))
                .isEqualTo("409 AlreadyDecided");
        assertThat(calls(thread).toString()).contains("It was sent.");
        assertThat(calls(thread).get(0).at("/settled/note").textValue()).isEqualTo("in the outbox");
    }

    // ---- AI SDK

    private static HttpResponse<String> chat(String agent, String body) throws Exception {
        return ann.http().send(ann.posting("/v1/ai-sdk/" + agent, body).build(), HttpResponse.BodyHandlers.ofString());
    }

    /** The chunks of a stream, without the comments that keep it open. */
    private static String chunks(HttpResponse<String> stream) throws Exception {
        for (String line : stream.body().lines().toList()) {
            if (line.startsWith("data: {")) {
                HttpCaller.checked("UiChunk", PayloadJson.MAPPER.readTree(line.substring(6)));
            }
        }
        return stream.body().lines().filter(line -> line.startsWith("data: ")).collect(Collectors.joining("\n"));
    }

    private static String submitted(String chat, String id, String text) {
        return "{'id':'" + chat + "','trigger':'submit-message','messages':[{'id':'" + id
                + "','role':'user','parts':[{'type':'text','text':'" + text + "'}]}]}";
    }

    private static String thread(String agent, String chat) throws Exception {
        return ann.get("/v1/ai-sdk/" + agent + "/" + chat).text("thread");
    }

    @Test
    void uiMessage_reusedIdWithAnotherText_isRefused() throws Exception {
        assertThat(chat("assistant", submitted("talk", "m-1", "Hello")).statusCode())
                .isEqualTo(200);

        assertThat(problem(chat("assistant", submitted("talk", "m-1", "Bye")))).isEqualTo("409 KeyReused");

        assertThat(chat("assistant", submitted("talk", "m-1", "Hello")).statusCode())
                .isEqualTo(200);
        assertThat(messages(thread("assistant", "talk"))).hasSize(2);
    }

    @Test
    void uiAnswers_withOneInvalid_areNotSent() throws Exception {
        assertThat(chat("payer", submitted("refused", "m-1", "Pay")).statusCode())
                .isEqualTo(200);
        String thread = thread("payer", "refused");

        assertThat(problem(chat("payer", decided("refused", thread, "'many'")))).isEqualTo("400 BadInput");

        assertThat(pending(thread)).hasSize(2);
    }

    @Test
    void uiAnswers_repeated_takeEffectOnce() throws Exception {
        assertThat(chat("payer", submitted("twice", "m-1", "Pay")).statusCode()).isEqualTo(200);
        String thread = thread("payer", "twice");
        String decision = decided("twice", thread, "4200");
        HttpResponse<String> first = chat("payer", decision);

        HttpResponse<String> again = chat("payer", decision);

        assertThat(chunks(first)).contains("4200").contains("Paid.");
        assertThat(again.statusCode()).isEqualTo(200);
        assertThat(chunks(again)).endsWith(chunks(first).substring(chunks(first).indexOf("tool-input-available")));
        assertThat(problem(chat("payer", decision.replace("4200", "4300")))).isEqualTo("409 KeyReused");
        assertThat(calls(thread).findValuesAsText("status")).containsExactly("completed", "completed");
    }

    @Test
    void uiSettlement_ofACallThatNeverWaited_isNotFound() throws Exception {
        assertThat(chat("assistant", submitted("never", "m-1", "Hello")).statusCode())
                .isEqualTo(200);
        String settled = "{'id':'never','messages':[{'id':'wm-m2','role':'assistant','parts':[]}],"
                + "'settlements':{'tu_9':{'outcome':'done'}}}";

        assertThat(problem(chat("assistant", settled))).isEqualTo("404 NotFound");
    }

    @Test
    void uiSettlement_repeated_settlesOnce() throws Exception {
        HttpResponse<String> asked = chat("sender", submitted("settled", "m-1", "Send"));
        assertThat(asked.body()).contains("\"outcomes\":[\"done\",\"not-done\",\"give-up\"]", "\"whyNoRerun\":\"the");
        assertThat(asked.statusCode()).isEqualTo(200);
        String thread = thread("sender", "settled");
        String settled = "{'id':'settled','trigger':'submit-message','messages':[{'id':'wm-m2','role':'assistant',"
                + "'parts':[]}],'settlements':{'tu_1':{'outcome':'done','result':'It was sent.','note':'in the outbox'}}}";
        HttpResponse<String> first = chat("sender", settled);

        assertThat(chunks(chat("sender", settled))).isEqualTo(chunks(first)).contains("It was sent.", "Sent.");
        assertThat(problem(chat("sender", settled.replace("It was", "It was not"))))
                .isEqualTo("409 AlreadyDecided");
        assertThat(calls(thread).findValuesAsText("status")).containsExactly("completed");
        assertThat(calls(thread).get(0).at("/settled/note").textValue()).isEqualTo("in the outbox");
    }

    /** A request that approves the call with another amount, and answers the question. */
    private static String decided(String chat, String thread, String cents) throws Exception {
        JsonNode waiting = pending(thread);
        assertThat(waiting).hasSize(2);
        String approval = "tu_2~" + waiting.get(1).path("argsDigest").asText();
        return "{'id':'" + chat + "','trigger':'submit-message','messages':[{'id':'wm-m2','role':'assistant','parts':["
                + "{'type':'dynamic-tool','toolName':'ask_user','toolCallId':'tu_1','state':'output-available',"
                + "'input':{'question':'Whose card?'},'output':'Ann'},"
                + "{'type':'dynamic-tool','toolName':'charge_card','toolCallId':'tu_2','state':'approval-responded',"
                + "'input':{'cents':8400},'approval':{'id':'" + approval + "','approved':true,"
                + "'reason':'{\\'args\\':{\\'cents\\':" + cents.replace("'", "\\'") + "}}'}}]}]}";
    }
}
