package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static dev.waymark.server.ServedThreads.BOB;
import static dev.waymark.server.ServedThreads.DAVE;
import static dev.waymark.server.ServedThreads.LOOKER;
import static dev.waymark.server.ServedThreads.OPERATOR;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.server.mcp.McpSettings;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests agents as tools of MCP over real HTTP, with a real worker, in both eras of the protocol. */
class McpTest {
    private static final String CHARGE = "{'message':'Charge'}";
    private static final String APPROVED = "{'action':'accept','content':{'decision':'approve'}}";
    private static final byte[] KEY = new byte[McpSettings.LEAST_KEY_BYTES];

    @TempDir
    private static Path directory;

    private static final PromptedModel MODEL = new PromptedModel();
    private static ServedThreads threads;
    private static HttpCaller ann;

    @BeforeAll
    static void start() throws Exception {
        threads = ServedThreads.inMemory(directory, Map.of("prompted", MODEL));
        ann = HttpCaller.of(threads.serve(McpSettings.withKey(KEY)), ANN);
    }

    @AfterAll
    static void stop() throws Exception {
        threads.close();
    }

    private static String text(JsonNode result) {
        return result.at("/content/0/text").asText();
    }

    private static String thread(JsonNode result) {
        return result.path("_meta").path("dev.waymark/thread").asText();
    }

    private static JsonNode awaitTask(McpCaller caller, String id, String status) {
        return await().atMost(Duration.ofMinutes(1))
                .until(
                        () -> caller.task(id),
                        task -> task.path("status").asText().equals(status));
    }

    private static String begin(McpCaller caller, String agent, String arguments) throws Exception {
        JsonNode created = caller.call(agent, arguments);
        assertThat(created.path("resultType").asText()).as(created.toString()).isEqualTo("task");
        return created.path("taskId").asText();
    }

    private static String key(JsonNode asked) {
        return asked.path("inputRequests").fieldNames().next();
    }

    private static void approve(String thread) throws Exception {
        JsonNode waiting = ann.list(thread, "pending").get(0);
        String decision = "{'callId':'" + waiting.path("callId").asText() + "','argsDigest':'"
                + waiting.path("argsDigest").asText() + "'}";
        assertThat(ann.post("/v1/threads/" + thread + "/approve", decision).status())
                .isEqualTo(202);
    }

    private static long charges(String thread) throws Exception {
        long charges = 0;
        for (JsonNode call : ann.list(thread, "calls")) {
            charges += call.path("status").asText().equals("completed") ? 1 : 0;
        }
        return charges;
    }

    @Test
    void handshake_offersEachAgentAsATool() throws Exception {
        McpCaller client = McpCaller.handshake(ann);

        JsonNode hello = client.send(
                        "initialize", "{'protocolVersion':'2025-06-18','capabilities':{},'clientInfo':{'name':'t'}}")
                .path("result");
        JsonNode tools = client.send("tools/list", "{}").at("/result/tools");

        assertThat(hello.path("protocolVersion").asText()).isEqualTo("2025-06-18");
        assertThat(hello.at("/serverInfo/name").asText()).isEqualTo("waymark");
        assertThat(tools.findValuesAsText("name"))
                .containsExactly(
                        "asker",
                        "assistant",
                        "billing",
                        "guide",
                        "prompted",
                        "shopper",
                        "start",
                        "say",
                        "answer",
                        "result",
                        "stop");
        assertThat(tools.get(1).path("description").asText()).isEqualTo("Says hello");
        assertThat(client.send("ping", "{}").path("result").isEmpty()).isTrue();
        assertThat(client.send("server/discover", "{}").at("/error/code").intValue())
                .isEqualTo(-32601);
    }

    @Test
    void handshake_unknownVersion_getsTheNewestKnown() throws Exception {
        assertThat(McpCaller.handshake(ann)
                        .send("initialize", "{'protocolVersion':'1999-01-01','capabilities':{}}")
                        .at("/result/protocolVersion")
                        .asText())
                .isEqualTo("2025-11-25");
    }

    @Test
    void call_returnsTheReplyOfTheAgent() throws Exception {
        JsonNode result = McpCaller.handshake(ann).call("assistant", "{'message':'Hi'}");

        assertThat(text(result)).isEqualTo("Hello.");
        assertThat(result.path("isError").booleanValue()).isFalse();
        assertThat(ann.get("/v1/threads/" + thread(result)).text("status")).isEqualTo("complete");
    }

    @Test
    void call_withAProgressToken_reportsProgress() throws Exception {
        List<JsonNode> messages = McpCaller.handshake(ann)
                .messages(
                        "tools/call",
                        McpCaller.json("{'name':'assistant','arguments':{'message':'Hi'},"
                                + "'_meta':{'progressToken':'p-1'}}"));

        List<Integer> progress = new ArrayList<>();
        for (JsonNode message : messages.subList(0, messages.size() - 1)) {
            assertThat(message.path("method").asText()).isEqualTo("notifications/progress");
            assertThat(message.at("/params/progressToken").asText()).isEqualTo("p-1");
            progress.add(message.at("/params/progress").intValue());
        }
        assertThat(progress).isNotEmpty().isSorted().doesNotHaveDuplicates();
    }

    @Test
    void clientWithoutForms_getsPendingRequestsAndTheResultLater() throws Exception {
        McpCaller client = McpCaller.handshake(ann);
        JsonNode waiting = client.call("billing", CHARGE);
        String thread = thread(waiting);

        assertThat(text(waiting)).contains("approval", "charge_card", "8400", thread);
        assertThat(waiting.at("/structuredContent/status").asText()).isEqualTo("interrupted");
        approve(thread);
        assertThat(text(client.call("result", "{'thread':'" + thread + "'}"))).isEqualTo("Charged.");
    }

    @Test
    void threadTools_startAnswerAndContinueThreads() throws Exception {
        McpCaller client = McpCaller.handshake(ann);
        String thread = thread(client.call("start", "{'agent':'asker','message':'Book'}"));

        JsonNode asked = client.call("result", "{'thread':'" + thread + "'}");
        client.call("answer", "{'thread':'" + thread + "','answer':'Friday','callId':'tu_1'}");
        client.call("answer", "{'thread':'" + thread + "','answer':'12A','callId':'tu_2'}");

        assertThat(text(asked)).contains("Which day?", "Which seat?");
        assertThat(text(client.call("result", "{'thread':'" + thread + "'}"))).isEqualTo("Booked.");
        assertThat(client.call("say", "{'thread':'" + thread + "','message':'More'}")
                        .path("isError")
                        .booleanValue())
                .isFalse();
    }

    @Test
    void call_beyondPatience_saysThatTheAgentIsStillWorking() throws Exception {
        ApiServer impatient = threads.serve(McpSettings.withKey(KEY).withPatience(Duration.ofMillis(200)));
        McpCaller client = McpCaller.handshake(ann).at(impatient);
        JsonNode working = client.call("prompted", "{'message':'Think'}");
        MODEL.says("Thought.");
        MODEL.ends();

        assertThat(working.at("/structuredContent/status").asText()).isEqualTo("running");
        assertThat(text(McpCaller.handshake(ann).call("result", "{'thread':'" + thread(working) + "'}")))
                .isEqualTo("Thought.");
    }

    @Test
    void call_repeatedWithItsKey_startsOneThread() throws Exception {
        McpCaller client = McpCaller.plain(ann);
        String call = "{'name':'assistant','arguments':{'message':'Hi'},"
                + "'_meta':{'dev.waymark/idempotency-key':'order-7'}}";

        JsonNode first = client.send("tools/call", call).path("result");
        JsonNode second = client.send("tools/call", call).path("result");
        JsonNode other =
                client.send("tools/call", call.replace("Hi", "Something else")).path("result");
        JsonNode others = client.as(BOB).send("tools/call", call).path("result");

        assertThat(thread(second)).isEqualTo(thread(first));
        assertThat(text(other)).startsWith("KeyReused");
        assertThat(thread(others)).isNotEqualTo(thread(first));
    }

    @Test
    void modernClient_discoversTheServer() throws Exception {
        JsonNode found = McpCaller.plain(ann).send("server/discover", "{}").path("result");

        assertThat(found.path("supportedVersions").toString()).isEqualTo("[\"2026-07-28\"]");
        assertThat(found.at("/capabilities/extensions").has("io.modelcontextprotocol/tasks"))
                .isTrue();
        assertThat(found.path("resultType").asText()).isEqualTo("complete");
        assertThat(found.path("ttlMs").isIntegralNumber()).isTrue();
        assertThat(found.path("_meta").has("io.modelcontextprotocol/serverInfo"))
                .isTrue();
    }

    @Test
    void form_filledIn_continuesTheCall() throws Exception {
        McpCaller client = McpCaller.withForms(ann);
        JsonNode required = client.call("billing", CHARGE);
        JsonNode form = required.path("inputRequests").elements().next();

        assertThat(required.path("resultType").asText()).isEqualTo("input_required");
        assertThat(form.path("method").asText()).isEqualTo("elicitation/create");
        assertThat(form.at("/params/message").asText()).contains("charge_card", "8400");
        assertThat(form.at("/params/requestedSchema/properties/decision/enum").toString())
                .isEqualTo("[\"approve\",\"deny\"]");
        assertThat(text(client.fillIn("billing", CHARGE, required, APPROVED))).isEqualTo("Charged.");
    }

    @Test
    void form_declined_deniesTheCall() throws Exception {
        McpCaller client = McpCaller.withForms(ann);
        JsonNode required = client.call("billing", CHARGE);

        JsonNode done = client.fillIn("billing", CHARGE, required, "{'action':'decline'}");

        assertThat(text(done)).isEqualTo("Charged.");
        assertThat(charges(thread(done))).isZero();
    }

    @Test
    void form_closed_isNotShownAgain() throws Exception {
        McpCaller client = McpCaller.withForms(ann);
        JsonNode required = client.call("billing", CHARGE);

        JsonNode waiting = client.fillIn("billing", CHARGE, required, "{'action':'cancel'}");

        assertThat(waiting.at("/structuredContent/status").asText()).isEqualTo("interrupted");
        assertThat(ann.list(thread(waiting), "pending")).hasSize(1);
    }

    @Test
    void form_filledInIncorrectly_isRefused() throws Exception {
        McpCaller client = McpCaller.withForms(ann);
        JsonNode required = client.call("billing", CHARGE);

        for (String content : List.of("{}", "{'decision':'yes'}", "{'decision':true}")) {
            JsonNode refused =
                    client.fillIn("billing", CHARGE, required, "{'action':'accept','content':" + content + "}");
            assertThat(text(refused)).startsWith("BadInput").contains("approve or deny");
            assertThat(text(refused)).contains("with thread " + thread(refused));
            assertThat(ann.list(thread(refused), "pending")).hasSize(1);
        }
    }

    /** Otherwise only this call would run, although the client believes that later ones may run, too. */
    @Test
    void form_withGrant_isRefusedAndDecidesNothing() throws Exception {
        McpCaller client = McpCaller.withForms(ann);
        JsonNode required = client.call("billing", CHARGE);

        JsonNode refused = client.fillIn(
                "billing",
                CHARGE,
                required,
                "{'action':'accept','content':{'decision':'approve','grant':{'times':3}}}");

        assertThat(text(refused)).startsWith("BadInput").contains("grant");
        assertThat(ann.list(thread(refused), "pending")).hasSize(1);
    }

    @Test
    void task_clientWithoutForms_isToldHowToDecide() throws Exception {
        McpCaller client = McpCaller.withTasksOnly(ann);
        String id = begin(client, "billing", CHARGE);
        ann.awaitPending(id, 1);

        JsonNode working = awaitTask(client, id, "working");
        assertThat(working.path("statusMessage").asText())
                .startsWith("Waits for you,")
                .contains("cannot fill in forms", "waymark pending", "charge_card");
    }

    @Test
    void requestState_forOtherCallerCallOrTime_isRefused() throws Exception {
        McpCaller client = McpCaller.withForms(ann);
        JsonNode required = client.call("billing", CHARGE);
        String state = required.path("requestState").asText();
        ApiServer tomorrow = threads.serve(McpSettings.withKey(KEY)
                .withClock(Clock.fixed(Clock.systemUTC().instant().plus(Duration.ofHours(25)), ZoneOffset.UTC)));
        ApiServer restarted = threads.serve(McpSettings.withKey(KEY));
        ApiServer other = threads.serve(McpSettings.withRandomKey());

        assertThat(problem(client.as(BOB), "billing", CHARGE, state)).isEqualTo("-32602 RequestStateForeign");
        assertThat(problem(client, "shopper", CHARGE, state)).isEqualTo("-32602 RequestStateForeign");
        assertThat(problem(client, "billing", "{'message':'Charge more'}", state))
                .isEqualTo("-32602 RequestStateForeign");
        assertThat(problem(client, "billing", CHARGE, "A" + state)).isEqualTo("-32602 RequestStateForeign");
        assertThat(problem(client, "billing", CHARGE, "nonsense")).isEqualTo("-32602 RequestStateForeign");
        assertThat(problem(client.at(other), "billing", CHARGE, state)).isEqualTo("-32602 RequestStateForeign");
        assertThat(problem(client.at(tomorrow), "billing", CHARGE, state)).isEqualTo("-32602 RequestStateExpired");
        assertThat(text(client.at(restarted).fillIn("billing", CHARGE, required, APPROVED)))
                .isEqualTo("Charged.");
    }

    private static String problem(McpCaller client, String tool, String arguments, String state) throws Exception {
        ObjectNode params = (ObjectNode)
                McpCaller.json("{'name':'" + tool + "','arguments':" + arguments + ",'inputResponses':{}}");
        return problem(client.send("tools/call", params.put("requestState", state)));
    }

    private static String problem(JsonNode answer) {
        return answer.at("/error/code").asText() + " "
                + answer.at("/error/data/type").asText();
    }

    @Test
    void replayedForm_changesNothing() throws Exception {
        McpCaller client = McpCaller.withForms(ann);
        JsonNode required = client.call("billing", CHARGE);

        JsonNode first = client.fillIn("billing", CHARGE, required, APPROVED);
        JsonNode second = client.fillIn("billing", CHARGE, required, APPROVED);
        JsonNode third = client.fillIn("billing", CHARGE, required, "{'action':'decline'}");

        assertThat(List.of(text(first), text(second), text(third))).containsOnly("Charged.");
        assertThat(charges(thread(first))).isOne();
    }

    @Test
    void inputResponses_withoutRequestState_areRefused() throws Exception {
        assertThat(problem(McpCaller.withForms(ann)
                        .send(
                                "tools/call",
                                "{'name':'billing','arguments':" + CHARGE + ",'inputResponses':{'a':" + APPROVED
                                        + "}}")))
                .isEqualTo("-32602 RequestStateForeign");
    }

    @Test
    void task_existsOnceItIsReturned_andEndsWithTheResult() throws Exception {
        McpCaller client = McpCaller.withTasks(ann);
        JsonNode created = client.call("assistant", "{'message':'Hi'}");
        String id = created.path("taskId").asText();

        JsonNode done = awaitTask(client, id, "completed");

        assertThat(created.path("ttlMs").isNull()).isTrue();
        assertThat(created.path("pollIntervalMs").intValue()).isPositive();
        assertThat(text(done.path("result"))).isEqualTo("Hello.");
        assertThat(Instant.parse(done.path("createdAt").asText())) // The time at which a worker took the thread.
                .isAfterOrEqualTo(Instant.parse(created.path("createdAt").asText()));
        assertThat(ann.get("/v1/threads/" + id).status()).isEqualTo(200);
    }

    @Test
    void task_waiting_isDecidedByAnyClientOfTheSubject() throws Exception {
        McpCaller client = McpCaller.withTasks(ann);
        String id = begin(client, "billing", CHARGE);
        JsonNode asked = awaitTask(client, id, "input_required");

        JsonNode updated = client.at(threads.serve()).update(id, key(asked), APPROVED);

        assertThat(updated.at("/result/resultType").asText()).isEqualTo("complete");
        assertThat(text(awaitTask(client, id, "completed").path("result"))).isEqualTo("Charged.");
        assertThat(ann.list(id, "calls").toString()).contains("\"ann\"");
        assertThat(client.update(id, key(asked), APPROVED).has("result")).isTrue();
        assertThat(charges(id)).isOne();
    }

    @Test
    void task_withSeveralRequests_hasAKeyPerRequest() throws Exception {
        McpCaller client = McpCaller.withTasks(ann);
        String id = begin(client, "shopper", "{'message':'Buy'}");
        JsonNode asked = awaitTask(client, id, "input_required").path("inputRequests");
        List<String> keys = new ArrayList<>();
        asked.fieldNames().forEachRemaining(keys::add);

        assertThat(keys).hasSize(3).doesNotHaveDuplicates();
        client.update(id, keys.get(0), "{'action':'accept','content':{'answer':'Friday'}}");
        client.update(id, keys.get(1), APPROVED);
        client.update(id, keys.get(2), "{'action':'accept','content':{'decision':'deny','reason':'Too dear'}}");
        assertThat(text(awaitTask(client, id, "completed").path("result"))).isEqualTo("Paid.");
        assertThat(ann.list(id, "calls").toString()).contains("Friday", "9900", "Too dear");
    }

    @Test
    void taskOfAnotherSubject_doesNotExist() throws Exception {
        String id = begin(McpCaller.withTasks(ann), "billing", CHARGE);
        McpCaller bob = McpCaller.withTasks(ann).as(BOB);

        assertThat(problem(bob.send("tasks/get", "{'taskId':'" + id + "'}"))).isEqualTo("-32602 NotFound");
        assertThat(problem(bob.send("tasks/cancel", "{'taskId':'" + id + "'}"))).isEqualTo("-32602 NotFound");
        assertThat(problem(bob.update(id, "tu_1", APPROVED))).isEqualTo("-32602 NotFound");
        assertThat(problem(bob.send("tasks/get", "{'taskId':'t-none'}"))).isEqualTo("-32602 NotFound");
        assertThat(text(bob.call("result", "{'thread':'" + id + "'}"))).startsWith("NotFound");
    }

    @Test
    void clientWithRoleTalk_canAnswerButNotApprove() throws Exception {
        McpCaller operator = McpCaller.withTasks(ann).as(OPERATOR);
        String id = begin(operator, "shopper", "{'message':'Buy'}");
        JsonNode asked = awaitTask(operator, id, "input_required").path("inputRequests");
        assertThat(asked).hasSize(1);
        operator.update(id, asked.fieldNames().next(), "{'action':'accept','content':{'answer':'Friday'}}");

        JsonNode working = awaitTask(operator, id, "working");
        assertThat(working.path("statusMessage").asText()).contains("another person", "charge_card");
    }

    @Test
    void approval_withoutRoleOrWithForgedKey_hasNoEffect() throws Exception {
        McpCaller client = McpCaller.withTasks(ann);
        String id = begin(client, "billing", CHARGE);
        String key = key(awaitTask(client, id, "input_required"));

        assertThat(problem(client.as(OPERATOR).update(id, key, APPROVED))).isEqualTo("403 RoleRequired");
        assertThat(problem(client.as(LOOKER).update(id, key, APPROVED))).isEqualTo("403 RoleRequired");
        assertThat(problem(client.as(LOOKER).send("tasks/cancel", "{'taskId':'" + id + "'}")))
                .isEqualTo("403 RoleRequired");
        assertThat(text(client.as(LOOKER).call("billing", CHARGE))).startsWith("RoleRequired");
        for (String forged : List.of("tu_1", "tu_1~0123456789abcdef0123456789abcdef", "tu_9" + key.substring(4))) {
            assertThat(client.update(id, forged, APPROVED).has("result")).isTrue();
        }
        assertThat(ann.list(id, "pending")).hasSize(1);
    }

    @Test
    void cancelledTask_isStopped_andStaysCancelled() throws Exception {
        McpCaller client = McpCaller.withTasks(ann);
        String id = begin(client, "billing", CHARGE);
        awaitTask(client, id, "input_required");

        assertThat(client.send("tasks/cancel", "{'taskId':'" + id + "'}").has("result"))
                .isTrue();
        awaitTask(client, id, "cancelled");
        client.call("say", "{'thread':'" + id + "','message':'Once more'}");
        client.call("result", "{'thread':'" + id + "'}");

        assertThat(client.task(id).path("status").asText()).isEqualTo("cancelled");
    }

    @Test
    void cancel_ofACompletedTask_doesNotStopALaterTurn() throws Exception {
        McpCaller client = McpCaller.withTasks(ann);
        MODEL.says("First.");
        MODEL.ends();
        String id = begin(client, "prompted", "{'message':'Think'}");
        awaitTask(client, id, "completed");
        client.call("say", "{'thread':'" + id + "','message':'Think again'}");

        assertThat(client.send("tasks/cancel", "{'taskId':'" + id + "'}").has("result"))
                .isTrue();
        MODEL.says("Later.");
        MODEL.ends();

        assertThat(text(client.call("result", "{'thread':'" + id + "'}"))).isEqualTo("Later.");
        assertThat(text(client.task(id).path("result"))).isEqualTo("First.");
    }

    @Test
    void terminatedThread_isACompletedTaskWithError() throws Exception {
        McpCaller client = McpCaller.withTasks(ann);
        String id = begin(client, "billing", CHARGE);
        awaitTask(client, id, "input_required");
        threads.terminate(id);

        JsonNode ended = awaitTask(client, id, "completed").path("result");

        assertThat(text(ended)).startsWith("Terminated");
        assertThat(text(client.call("result", "{'thread':'" + id + "'}"))).startsWith("Terminated");
        assertThat(text(client.call("say", "{'thread':'" + id + "','message':'More'}")))
                .startsWith("Closed");
    }

    @Test
    void failedTurn_isACompletedTaskWithError() throws Exception {
        McpCaller client = McpCaller.withTasks(ann);
        String id = begin(client, "assistant", "{'message':'Hi','schema':{'type':'object','required':['a']}}");

        JsonNode failed = awaitTask(client, id, "completed").path("result");

        assertThat(failed.path("isError").booleanValue()).isTrue();
        assertThat(text(failed)).startsWith("SchemaMismatch").contains(id);
    }

    @Test
    void tasks_withoutTheExtension_areRefused() throws Exception {
        McpCaller client = McpCaller.withForms(ann);

        JsonNode refused = client.send("tasks/get", "{'taskId':'t-1'}");

        assertThat(refused.at("/error/code").intValue()).isEqualTo(-32021);
        assertThat(refused.at("/error/data/requiredCapabilities/extensions").has("io.modelcontextprotocol/tasks"))
                .isTrue();
        assertThat(McpCaller.handshake(ann)
                        .send("tasks/get", "{'taskId':'t-1'}")
                        .at("/error/code")
                        .intValue())
                .isEqualTo(-32601);
    }

    @Test
    void unknownToolAndInvalidArguments_areDifferentErrors() throws Exception {
        McpCaller client = McpCaller.plain(ann);

        assertThat(problem(client.send("tools/call", "{'name':'nobody','arguments':{}}")))
                .isEqualTo("-32602 NotFound");
        assertThat(text(client.call("assistant", "{}"))).startsWith("BadInput");
        assertThat(text(client.call("assistant", "{'message':'Hi','context':{}}")))
                .startsWith("BadInput");
    }

    @Test
    void modernRequest_headersContradictBody_isRefused() throws Exception {
        McpCaller client = McpCaller.plain(ann);
        ObjectNode list = client.message("tools/list", McpCaller.json("{}"));
        ObjectNode call =
                client.message("tools/call", McpCaller.json("{'name':'assistant','arguments':{'message':'Hi'}}"));

        assertThat(code(client.posting(list).setHeader("Mcp-Method", "tools/call")))
                .isEqualTo("400 -32020");
        assertThat(code(client.posting(list).setHeader("MCP-Protocol-Version", "2025-11-25")))
                .isEqualTo("400 -32020");
        assertThat(code(client.posting(call).setHeader("Mcp-Name", "billing"))).isEqualTo("400 -32020");
        assertThat(code(client.posting(call).setHeader("Mcp-Name", "=?base64?!?=")))
                .isEqualTo("400 -32020");
        assertThat(code(client.posting(call).setHeader("Mcp-Name", "=?base64?")))
                .isEqualTo("400 -32020");
        assertThat(code(client.posting(call).setHeader("Mcp-Name", "=?base64?YXNzaXN0YW50?=")))
                .startsWith("200");
        assertThat(code(ann.posting("/mcp", list.toString()))).isEqualTo("400 -32020");
    }

    @Test
    void modernRequest_withoutVersionOrCapabilities_isRefused() throws Exception {
        McpCaller client = McpCaller.plain(ann);
        ObjectNode unknown = client.message("tools/list", McpCaller.json("{}"));
        unknown.withObject("/params/_meta").put("io.modelcontextprotocol/protocolVersion", "2030-01-01");
        ObjectNode incapable = client.message("tools/list", McpCaller.json("{}"));
        incapable.withObject("/params/_meta").remove("io.modelcontextprotocol/clientCapabilities");
        ObjectNode bare = client.message("tools/list", McpCaller.json("{}"));
        bare.withObject("/params").remove("_meta");

        assertThat(code(client.posting(unknown).setHeader("MCP-Protocol-Version", "2030-01-01")))
                .isEqualTo("400 -32022");
        assertThat(code(client.posting(unknown))).isEqualTo("400 -32020");
        assertThat(code(client.posting(incapable))).isEqualTo("400 -32602");
        assertThat(code(client.posting(bare))).isEqualTo("400 -32602");
        assertThat(code(client.posting(client.message("ping", McpCaller.json("{}")))))
                .isEqualTo("404 -32601");
        assertThat(code(client.posting(client.message("tasks/result", McpCaller.json("{}")))))
                .isEqualTo("404 -32601");
    }

    private static String code(HttpRequest.Builder request) throws Exception {
        HttpResponse<String> response = ann.http().send(request.build(), HttpResponse.BodyHandlers.ofString());
        return response.statusCode() + " "
                + (response.body().startsWith("{")
                        ? McpCaller.json(response.body()).at("/error/code").asText()
                        : "");
    }

    @Test
    void notificationsAreAccepted_andInvalidMessagesAreRefused() throws Exception {
        assertThat(ann.post("/mcp", "{'jsonrpc':'2.0','method':'notifications/initialized'}")
                        .status())
                .isEqualTo(202);
        assertThat(code(ann.posting("/mcp", "{'jsonrpc':'2.0','id':null,'method':'tools/list'}")))
                .isEqualTo("400 -32600");
        assertThat(code(ann.posting("/mcp", "{'jsonrpc':'2.0','id':1,'method':'tools/list','params':[]}")))
                .isEqualTo("400 -32602");
        assertThat(code(ann.posting("/mcp", "{'id':1}"))).isEqualTo("400 -32600");
        assertThat(ann.post("/mcp", "[]").status()).isEqualTo(400);
        assertThat(ann.get("/mcp").status()).isEqualTo(405);
    }

    @Test
    void hostileTransport_isRefusedWithItsProblemCode() throws Exception {
        String call = "{'jsonrpc':'2.0','id':1,'method':'tools/list'}";

        assertThat(ann.asNobody().post("/mcp", call).text("code")).isEqualTo("Unauthenticated");
        assertThat(ann.send(ann.posting("/mcp", call).header("Origin", "https://evil.example"))
                        .text("code"))
                .isEqualTo("ForeignOrigin");
        for (int megabytes : List.of(2, 50)) {
            assertThat(ann.send(ann.posting("/mcp", " ".repeat(megabytes * 1024 * 1024) + call))
                            .text("code"))
                    .isEqualTo("TooLarge");
        }
        assertThat(ann.as(DAVE).post("/mcp?access_token=x", call).text("code")).isEqualTo("TokenInUrl");
    }
}
