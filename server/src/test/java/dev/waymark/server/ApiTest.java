package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static dev.waymark.server.ServedThreads.BOB;
import static dev.waymark.server.ServedThreads.CAROL;
import static dev.waymark.server.ServedThreads.DAVE;
import static dev.waymark.server.ServedThreads.LOOKER;
import static dev.waymark.server.ServedThreads.OPERATOR;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.request.Prompt;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.value.Json;
import dev.waymark.server.api.AgentCatalog;
import dev.waymark.server.api.Failures;
import dev.waymark.server.document.ApiDocument;
import dev.waymark.server.http.HttpSettings;
import dev.waymark.server.http.Route;
import dev.waymark.server.identity.CallerRole;
import dev.waymark.server.mcp.McpSettings;
import dev.waymark.thread.StatusReport;
import dev.waymark.timeline.CheckpointFormat;
import dev.waymark.tool.ToolArguments;
import dev.waymark.worker.server.InMemoryServer;
import java.lang.reflect.RecordComponent;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the API over real HTTP, with a real worker. Validates answers against the OpenAPI document. */
class ApiTest {
    private static final ApiDocument DOCUMENT = ApiDocument.load();

    @TempDir
    private static Path directory;

    private static ServedThreads threads;
    private static HttpCaller ann;

    @BeforeAll
    static void start() throws Exception {
        Path agents = Files.createDirectories(directory.resolve("agents"));
        Files.writeString(agents.resolve("reader.yaml"), """
                model: scripted:reader.script.yaml
                results: { show: 4KiB }
                tools:
                  - name: look
                    command: [/bin/sh, -c, "seq 3000"]
                    safe_to_retry: true
                """);
        Files.writeString(agents.resolve("reader.script.yaml"), """
                replies:
                  - tool_calls: [{ id: tu_1, name: look }]
                  - tool_calls: [{ id: tu_2, name: read_result, input: { call: tu_1, search: "\\n1500\\n" } }]
                  - text: Seen.
                """);
        threads = ServedThreads.inMemory(directory, Map.of());
        ann = HttpCaller.of(threads.serve(), ANN);
    }

    @AfterAll
    static void stop() throws Exception {
        threads.close();
    }

    @Test
    void document_listsExactlyTheServedRoutes() {
        Set<String> served = new TreeSet<>();
        for (Route route : ApiServer.routes(
                threads.client(),
                new AgentCatalog(Optional.empty()),
                DOCUMENT.json(),
                HttpSettings.at("127.0.0.1", 0),
                Runnable::run,
                McpSettings.withRandomKey(),
                Failures::of)) {
            served.add(route.method() + " " + route.template() + " " + route.name() + " "
                    + route.role().map(CallerRole::wireName).orElse("-"));
        }
        Set<String> documented = new TreeSet<>();
        DOCUMENT.json()
                .path("paths")
                .properties()
                .forEach(path -> path.getValue()
                        .properties()
                        .forEach(operation -> documented.add(operation.getKey().toUpperCase() + " " + path.getKey()
                                + " "
                                + operation.getValue().path("operationId").asText() + " "
                                + operation.getValue().path("x-waymark-role").asText("-"))));

        assertThat(documented).isEqualTo(served);
    }

    @Test
    void document_ofAServerWithoutAuthentication_requiresNoToken() throws Exception {
        HttpCaller anybody = HttpCaller.of(threads.serveUnchecked(HttpSettings.at("127.0.0.1", 0)), "")
                .asNobody();

        assertThat(anybody.get("/v1/openapi.json").response().body()).doesNotContain("\"security", "bearer");
        assertThat(ann.get("/v1/openapi.json").body()).isEqualTo(DOCUMENT.json());
    }

    /** Each event has the fields of its fact, and its place. */
    @Test
    void events_areDocumentedWithTheFieldsOfTheirFacts() throws Exception {
        Map<String, Set<String>> documented = new TreeMap<>();
        for (JsonNode reference : DOCUMENT.json().at("/components/schemas/ThreadEvent/anyOf")) {
            JsonNode event = DOCUMENT.json().at(reference.path("$ref").asText().substring(1));
            Set<String> fields = new TreeSet<>();
            event.path("properties").fieldNames().forEachRemaining(fields::add);
            documented.put(event.at("/properties/type/const").asText(), fields);
        }
        Map<String, Set<String>> recorded = new TreeMap<>();
        facts(Fact.class).forEach(fact -> {
            Set<String> fields = new TreeSet<>(Set.of("type", "at", "runId", "eventId", "index"));
            for (RecordComponent component : fact.getRecordComponents()) {
                fields.add(component.getName());
            }
            recorded.put(fact.getSimpleName().replaceAll("(?<=.)([A-Z])", "-$1").toLowerCase(Locale.ROOT), fields);
        });

        assertThat(documented).containsAllEntriesOf(recorded);
    }

    private static Stream<Class<?>> facts(Class<?> type) {
        return type.isRecord()
                ? Stream.of(type)
                : Arrays.stream(type.getPermittedSubclasses())
                        .flatMap(ApiTest::facts)
                        .distinct();
    }

    @Test
    void grant_withoutValidTerms_isRefusedAndTheCallStillWaits() throws Exception {
        String thread = ann.start("billing", "Pay");
        String digest = ann.awaitPending(thread, 1).get(0).path("argsDigest").asText();
        String approval = "{'callId':'tu_1','argsDigest':'" + digest + "','grant':";
        Map<String, String> refused = Map.of(
                "{'time':1}", "property 'time' is not defined",
                "{'like':{}}", "it constrains no argument",
                "{'like':{'type':'object'}}", "it constrains no argument",
                "{'like':{'cents':8400}}", "JSON Schema has no keyword cents",
                "{'like':{'properties':{'cents':{'maximun':9000}}}}", "no keyword maximun",
                "{'like':{'properties':{'cents':{'maxLength':4}}}}", "do not match the schema of the grant",
                "{'like':{'properties':{'cent':{'maximum':9000}}}}", "do not match the schema of the grant",
                "{'like':{'required':['cents']},'anyArgs':true}", "exclude each other");
        for (Map.Entry<String, String> each : refused.entrySet()) {
            HttpCaller.Answer answer = ann.post("/v1/threads/" + thread + "/approve", approval + each.getKey() + "}");

            assertThat(answer.status()).as(each.getKey()).isEqualTo(400);
            assertThat(answer.text("detail")).as(each.getKey()).contains(each.getValue());
        }
        assertThat(ann.list(thread, "pending")).hasSize(1);

        checked("approve", ann.post("/v1/threads/" + thread + "/approve", approval + "{'anyArgs':true}}"), 202);
        JsonNode grant = checked("listGrants", ann.get("/v1/threads/" + thread + "/grants"), 200)
                .at("/grants/0");
        assertThat(grant.path("anyArgs").asBoolean()).isTrue();
        assertThat(grant.has("args") || grant.has("like")).isFalse();
    }

    @Test
    void longResult_isServedAsTheModelGotIt_andWhole() throws Exception {
        String thread = ann.start("reader", "Look");
        await().atMost(Duration.ofMinutes(1))
                .until(() -> ann.get("/v1/threads/" + thread).text("status").equals("complete"));

        JsonNode calls = checked("listCalls", ann.get("/v1/threads/" + thread + "/calls"), 200)
                .path("calls");
        JsonNode whole = checked("getConversation", ann.get("/v1/threads/" + thread + "/conversation"), 200);

        assertThat(calls.at("/0/result").asText())
                .startsWith("1\n2\n")
                .contains("of 13893 are left out: read_result {\"call\": \"tu_1\"")
                .doesNotContain("\n1500\n");
        assertThat(calls.at("/0/wholeResult").asText()).hasSize(13893).contains("\n1500\n");
        assertThat(calls.at("/1/result").asText()).startsWith("1 hit, ").contains("\n1500\n");
        assertThat(calls.at("/1").has("wholeResult")).isFalse();
        assertThat(whole.at("/calls/0/wholeResult")).isEqualTo(calls.at("/0/wholeResult"));
        assertThat(whole.path("messages").toString()).doesNotContain("2345");
    }

    @Test
    void thread_fromStartToClose_isServed() throws Exception {
        HttpCaller.Answer started = ann.post("/v1/threads", "{'agent':'billing','message':'Pay'}");
        checked("startThread", started, 201);
        String thread = started.text("thread");
        assertThat(started.response().headers().firstValue("Location")).contains("/v1/threads/" + thread);

        JsonNode asked = ann.awaitPending(thread, 1).get(0);
        assertThat(asked.path("kind").asText()).isEqualTo("approval");
        assertThat(asked.path("args").toString()).isEqualTo("{\"cents\":8400}");
        HttpCaller.Answer approved = ann.post(
                "/v1/threads/" + thread + "/approve",
                "{'callId':'tu_1','argsDigest':'" + asked.path("argsDigest").asText()
                        + "','args':{'cents':4200},'reason':'half'}");
        checked("approve", approved, 202);
        awaitStatus(ann, thread, "complete");

        JsonNode call = checked("listCalls", ann.get("/v1/threads/" + thread + "/calls"), 200)
                .at("/calls/0");
        assertThat(call.path("args").toString()).isEqualTo("{\"cents\":4200}");
        assertThat(call.path("approval").path("by").asText()).isEqualTo("ann");
        assertThat(call.path("approval").path("verified").toString()).isEqualTo("{\"subject\":\"ann\"}");
        assertThat(call.path("approval").path("edited").booleanValue()).isTrue();
        assertThat(checked("getResult", ann.get("/v1/threads/" + thread + "/result"), 200)
                        .path("text")
                        .asText())
                .isEqualTo("Charged.");
        JsonNode whole = checked("getConversation", ann.get("/v1/threads/" + thread + "/conversation"), 200);
        assertThat(whole.path("current").booleanValue()).isTrue();
        assertThat(whole.path("pending")).isEmpty();
        assertThat(whole.at("/calls/0/argsText").asText()).isEqualTo("{\"cents\": 4200}");
        assertThat(whole.at("/calls/0/proposedText").asText()).isEqualTo("{\"cents\": 8400}");
        assertThat(whole.has("workspace")).isFalse();
        assertThat(whole.path("course")).hasSameSizeAs(whole.path("messages"));
        assertThat(whole.at("/course/0/before").asText()).isEqualTo("0");
        assertThat(whole.at("/course/1").has("before")).isFalse();
        assertThat(whole.at("/course/1").has("tookMillis")).isTrue();
        assertThat(whole.at("/course/1/usage").toString()).isEqualTo("{\"inputTokens\":0,\"outputTokens\":0}");
        assertThat(whole.at("/calls/0/startedAt").asText()).isNotEmpty();
        assertThat(whole.path("turns")).hasSize(1);
        assertThat(whole.at("/turns/0/lastMessage").intValue()).isEqualTo(3);
        assertThat(whole.at("/turns/0/endedAt").asText()).isNotEmpty();
        assertThat(checked(
                        "getConversation",
                        ann.get("/v1/threads/" + thread + "/conversation?at="
                                + URLEncoder.encode(whole.path("position").asText(), StandardCharsets.UTF_8)),
                        200))
                .isEqualTo(whole);
        JsonNode earlier = checked("getConversation", ann.get("/v1/threads/" + thread + "/conversation?at=1"), 200);
        assertThat(earlier.path("current").booleanValue()).isFalse();
        assertThat(earlier.path("version").intValue()).isEqualTo(1);
        assertThat(earlier.at("/pending/0/argsText").asText()).isEqualTo("{\"cents\": 8400}");
        assertThat(earlier.at("/pending/0/description").asText()).isEqualTo("Charges");
        assertThat(earlier.at("/pending/0/schema/properties/cents/type").asText())
                .isEqualTo("integer");
        assertThat(earlier.at("/calls/0").has("proposedText")).isFalse();
        assertThat(earlier.at("/turns/0").has("endedAt")).isFalse();
        assertThat(problem(ann.get("/v1/threads/" + thread + "/files/docs%2FNOTES.md")))
                .isEqualTo("404 NotFound");
        assertThat(problem(ann.get("/v1/threads/" + thread + "/conversation?at=99")))
                .isEqualTo("404 NotFound");
        checked("getThread", ann.get("/v1/threads/" + thread), 200);
        assertThat(checked("listMessages", ann.get("/v1/threads/" + thread + "/messages"), 200)
                        .path("messages"))
                .hasSize(4);
        assertThat(checked("listPending", ann.get("/v1/threads/" + thread + "/pending"), 200)
                        .path("pending"))
                .isEmpty();
        JsonNode versions = checked("listVersions", ann.get("/v1/threads/" + thread + "/versions"), 200);
        assertThat(versions.path("versions")).isNotEmpty();
        JsonNode moments = checked("listMoments", ann.get("/v1/threads/" + thread + "/moments?at=1"), 200);
        assertThat(moments.path("moments").findValuesAsText("type"))
                .startsWith("run-started")
                .endsWith("model-replied");
        assertThat(moments.at("/moments/0/text").asText()).contains("\"agent\":\"billing\"");
        assertThat(checked("listMoments", ann.get("/v1/threads/" + thread + "/moments?at=2"), 200)
                        .path("moments")
                        .findValuesAsText("type"))
                .startsWith("approval-decided")
                .doesNotContain("model-replied");
        for (String format : CheckpointFormat.names()) {
            checked("getCheckpoint", ann.get("/v1/threads/" + thread + "/checkpoint?format=" + format), 200);
            checked("getCheckpoint", ann.get("/v1/threads/" + thread + "/checkpoint?format=" + format + "&at=1"), 200);
        }

        checked("say", ann.post("/v1/threads/" + thread + "/say", "{'message':'Thanks'}"), 202);
        awaitStatus(ann, thread, "complete");
        checked("close", ann.post("/v1/threads/" + thread + "/close", "{}"), 202);
        await().atMost(Duration.ofMinutes(1))
                .until(() ->
                        !ann.get("/v1/threads/" + thread).body().path("open").booleanValue());
        HttpCaller.Answer late = ann.post("/v1/threads/" + thread + "/say", "{'message':'Hello?'}");
        assertThat(problem(late)).isEqualTo("409 Closed");
    }

    @Test
    void questions_areAnsweredInAnyOrder() throws Exception {
        String thread = ann.start("asker", "Book");
        ann.awaitPending(thread, 2);

        checked("answer", ann.post("/v1/threads/" + thread + "/answer", "{'callId':'tu_2','answer':'12A'}"), 202);
        HttpCaller.Answer twice = ann.post("/v1/threads/" + thread + "/answer", "{'callId':'tu_2','answer':'12B'}");
        assertThat(problem(twice)).isEqualTo("409 AlreadyDecided");
        checked("answer", ann.post("/v1/threads/" + thread + "/answer", "{'callId':'tu_1','answer':'Friday'}"), 202);
        awaitStatus(ann, thread, "complete");
    }

    @Test
    void denial_withoutTheShownDigest_isRefused() throws Exception {
        String thread = ann.start("billing", "Pay");
        JsonNode asked = ann.awaitPending(thread, 1).get(0);

        HttpCaller.Answer other =
                ann.post("/v1/threads/" + thread + "/deny", "{'callId':'tu_1','argsDigest':'another'}");
        assertThat(problem(other)).isEqualTo("409 ArgsChanged");
        assertThat(problem(ann.post("/v1/threads/" + thread + "/deny", "{'callId':'tu_1'}")))
                .isEqualTo("400 BadInput");
        assertThat(problem(ann.post(
                        "/v1/threads/" + thread + "/approve",
                        "{'callId':'tu_1','argsDigest':'"
                                + asked.path("argsDigest").asText() + "','args':{'cents':'many'}}")))
                .isEqualTo("400 BadInput");
        checked(
                "deny",
                ann.post(
                        "/v1/threads/" + thread + "/deny",
                        "{'callId':'tu_1','argsDigest':'"
                                + asked.path("argsDigest").asText() + "','reason':'no'}"),
                202);
        awaitStatus(ann, thread, "complete");
        assertThat(ann.list(thread, "calls").get(0).path("status").asText()).isEqualTo("denied");
    }

    @Test
    void start_repeatedWithItsKey_startsOneThread() throws Exception {
        String body = "{'agent':'assistant','message':'Hi'}";
        HttpCaller.Answer first = ann.post("/v1/threads", body, "key-1");
        HttpCaller.Answer again = ann.post("/v1/threads", body, "key-1");
        checked("startThread", first, 201);
        checked("startThread", again, 200);

        assertThat(again.body()).isEqualTo(first.body());
        assertThat(problem(ann.post("/v1/threads", "{'agent':'assistant','message':'Other'}", "key-1")))
                .isEqualTo("409 KeyReused");
        assertThat(ann.as(BOB).post("/v1/threads", body, "key-1").text("thread"))
                .isNotEqualTo(first.text("thread"));
    }

    @Test
    void say_repeatedWithItsKey_sendsOneMessage() throws Exception {
        String thread = ann.start("assistant", "Hi");
        awaitStatus(ann, thread, "complete");
        for (int i = 0; i < 2; i++) {
            assertThat(ann.post("/v1/threads/" + thread + "/say", "{'message':'More'}", "key-2")
                            .status())
                    .isEqualTo(202);
        }
        await().atMost(Duration.ofMinutes(1))
                .untilAsserted(() -> assertThat(ann.list(thread, "messages")).hasSize(4));
        assertThat(ann.get("/v1/threads/" + thread).body().path("turn").intValue())
                .isEqualTo(2);
    }

    @Test
    void threadOfAnotherCaller_isNotFound() throws Exception {
        String thread = ann.start("assistant", "Secret");
        HttpCaller bob = ann.as(BOB);
        for (String path :
                List.of("", "/messages", "/pending", "/calls", "/versions", "/result", "/checkpoint", "/events")) {
            HttpCaller.Answer foreign = bob.get("/v1/threads/" + thread + path);
            HttpCaller.Answer missing = bob.get("/v1/threads/t-none" + path);
            assertThat(foreign.status()).isEqualTo(404);
            assertThat(foreign.body()).isEqualTo(missing.body());
        }
        for (String command : List.of("say", "fork", "stop", "close", "cancel", "resume")) {
            HttpCaller.Answer foreign =
                    bob.post("/v1/threads/" + thread + "/" + command, command.equals("say") ? "{'message':'x'}" : "{}");
            assertThat(problem(foreign)).isEqualTo("404 NotFound");
        }
        assertThat(bob.get("/v1/threads").body().toString()).doesNotContain(thread);
        assertThat(ann.get("/v1/threads").body().toString()).contains(thread);
        assertThat(ann.as(OPERATOR).get("/v1/threads/" + thread).status()).isEqualTo(200);
        assertThat(ann.as(LOOKER).get("/v1/threads/" + thread).status()).isEqualTo(200);
    }

    @Test
    void threadOfAGroup_isVisibleToItsMembers() throws Exception {
        HttpCaller dave = ann.as(DAVE);
        HttpCaller.Answer started = dave.post("/v1/threads", "{'agent':'billing','message':'Pay','group':'support'}");
        assertThat(started.status()).isEqualTo(201);
        String thread = started.text("thread");
        HttpCaller carol = ann.as(CAROL);
        JsonNode asked = carol.awaitPending(thread, 1).get(0);
        String decision =
                "{'callId':'tu_1','argsDigest':'" + asked.path("argsDigest").asText() + "'}";

        assertThat(problem(ann.get("/v1/threads/" + thread))).isEqualTo("404 NotFound");
        assertThat(problem(dave.post("/v1/threads/" + thread + "/approve", decision)))
                .isEqualTo("403 RoleRequired");
        assertThat(problem(carol.post("/v1/threads/" + thread + "/say", "{'message':'x'}")))
                .isEqualTo("403 RoleRequired");
        assertThat(carol.post("/v1/threads/" + thread + "/approve", decision).status())
                .isEqualTo(202);
        awaitStatus(dave, thread, "complete");
        assertThat(problem(ann.post("/v1/threads", "{'agent':'billing','message':'Pay','group':'support'}")))
                .isEqualTo("403 NotInGroup");
    }

    @Test
    void threadWithoutOwner_isVisibleToOperatorsOnly() throws Exception {
        AgentClient client = threads.client();
        client.start(Prompt.of("assistant", "Hi").withThread("trip/1 %2F ü").allowingVolatile());
        String path = "/v1/threads/"
                + URLEncoder.encode("trip/1 %2F ü", StandardCharsets.UTF_8).replace("+", "%20");

        assertThat(problem(ann.get(path))).isEqualTo("404 NotFound");
        assertThat(checked("getThread", ann.as(OPERATOR).get(path), 200)
                        .path("thread")
                        .asText())
                .isEqualTo("trip/1 %2F ü");
    }

    @Test
    void list_allPages_containEachThreadOnce() throws Exception {
        HttpCaller bob = ann.as(BOB);
        Set<String> started = new TreeSet<>();
        for (int i = 0; i < 5; i++) {
            started.add(bob.start("assistant", "Hi " + i));
        }
        List<String> listed = new ArrayList<>();
        Optional<String> next = Optional.of("/v1/threads?limit=2");
        while (next.isPresent()) {
            JsonNode page = checked("listThreads", bob.get(next.get()), 200);
            assertThat(page.path("threads").size()).isLessThanOrEqualTo(2);
            page.path("threads")
                    .forEach(thread -> listed.add(thread.path("thread").asText()));
            next = Optional.ofNullable(page.path("next").textValue())
                    .map(after -> "/v1/threads?limit=2&after=" + after);
        }
        assertThat(listed).doesNotHaveDuplicates().containsAll(started);
        assertThat(bob.get("/v1/threads?agent=billing").body().path("threads").toString())
                .doesNotContain("assistant");
        assertThat(problem(bob.get("/v1/threads?limit=0"))).isEqualTo("400 BadInput");
        assertThat(problem(bob.get("/v1/threads?after=nonsense"))).isEqualTo("400 BadInput");
    }

    @Test
    void list_byUnknownStatus_isRefused() throws Exception {
        HttpCaller.Answer refused = ann.get("/v1/threads?status=x");

        assertThat(problem(refused)).isEqualTo("400 BadInput");
        assertThat(refused.body().toString()).contains(StatusReport.STATUSES);
        assertThat(problem(ann.get("/v1/threads?status="))).isEqualTo("400 BadInput");
        for (String status : StatusReport.STATUSES) {
            checked("listThreads", ann.get("/v1/threads?status=" + status), 200);
        }
    }

    @Test
    void fork_andResume_belongToTheCaller() throws Exception {
        String thread = ann.start("assistant", "Hi");
        awaitStatus(ann, thread, "complete");
        HttpCaller.Answer forked = ann.post("/v1/threads/" + thread + "/fork", "{'message':'Again'}", "fork-1");
        checked("forkThread", forked, 201);
        awaitStatus(ann, forked.text("thread"), "complete");
        assertThat(checked("getThread", ann.get("/v1/threads/" + forked.text("thread")), 200)
                        .path("forkedFrom")
                        .toString())
                .matches("\\{\"thread\":\"" + thread + "\",\"version\":"
                        + ann.list(thread, "versions").size() + ",\"at\":\"[-0-9a-f]+/e\\d+\"}");
        JsonNode whole =
                checked("getConversation", ann.get("/v1/threads/" + forked.text("thread") + "/conversation"), 200);
        assertThat(whole.at("/inherited/usage").toString()).isEqualTo("{\"inputTokens\":0,\"outputTokens\":0}");
        assertThat(whole.path("turns")).hasSize(1);
        assertThat(ann.get("/v1/threads/" + thread + "/conversation").body().has("inherited"))
                .isFalse();
        assertThat(ann.get("/v1/threads/" + thread).body().has("forkedFrom")).isFalse();
        assertThat(ann.post("/v1/threads/" + thread + "/fork", "{'message':'Again'}", "fork-1")
                        .text("thread"))
                .isEqualTo(forked.text("thread"));
        assertThat(problem(ann.as(BOB).get("/v1/threads/" + forked.text("thread"))))
                .isEqualTo("404 NotFound");

        checked("cancel", ann.post("/v1/threads/" + thread + "/cancel", "{}"), 202);
        await().atMost(Duration.ofMinutes(1))
                .until(() ->
                        !ann.get("/v1/threads/" + thread).body().path("open").booleanValue());
        HttpCaller.Answer resumed = ann.post("/v1/threads/" + thread + "/resume", "{'answer':'On'}");
        checked("resumeThread", resumed, 201);
        awaitStatus(ann, resumed.text("thread"), "complete");
        assertThat(problem(ann.as(BOB).get("/v1/threads/" + resumed.text("thread"))))
                .isEqualTo("404 NotFound");
    }

    @Test
    void import_createsAnIndependentCopy() throws Exception {
        String thread = ann.start("billing", "Pay");
        ann.awaitPending(thread, 1);
        for (String format : List.of("runner", "thread", "phases", "messages", "session")) {
            JsonNode checkpoint = ann.get("/v1/threads/" + thread + "/checkpoint?format=" + format)
                    .body();
            HttpCaller.Answer imported = ann.as(OPERATOR)
                    .post("/v1/imports", "{\"agent\":\"billing\",\"checkpoint\":" + escaped(checkpoint) + "}");
            checked("importCheckpoint", imported, 201);
            assertThat(imported.text("thread")).isNotEqualTo(thread);
            assertThat(ann.as(OPERATOR)
                            .get("/v1/threads/" + imported.text("thread"))
                            .status())
                    .isEqualTo(200);
            assertThat(problem(ann.get("/v1/threads/" + imported.text("thread"))))
                    .isEqualTo("404 NotFound");
        }
        assertThat(problem(ann.as(OPERATOR).post("/v1/imports", "{'checkpoint':[]}")))
                .isEqualTo("400 CheckpointCorruption");
    }

    private static String imported(String content) {
        return "{'agent':'assistant','checkpoint':{'messages':[{'role':'user','content':'" + content
                + "'}],'iterations':0,'usage':{'inputTokens':0,'outputTokens':0}}}";
    }

    /** HTTP imports exactly what the command line would: what the command line refuses is not repaired here. */
    @Test
    void import_readsTheBytesThatWereSent() throws Exception {
        for (String broken : List.of("\\ud800", "\\udc00 x", "x \\ud83d")) {
            assertThat(problem(ann.as(OPERATOR).post("/v1/imports", imported(broken))))
                    .isEqualTo("400 CheckpointCorruption");
        }
        checked(
                "importCheckpoint",
                ann.as(OPERATOR).post("/v1/imports", imported("\\ud83d\\ude00 \uD83D\uDE00 é \\u0027")),
                201);
    }

    @Test
    void import_fileWithByteOrderMark_isRead() throws Exception {
        for (String marked : List.of(
                "\uFEFF" + imported("Hi"),
                imported("Hi").replace("'checkpoint':", "'checkpoint':\uFEFF"),
                imported("Hi").replace("'checkpoint':", "'checkpoint': \uFEFF \n"))) {
            checked("importCheckpoint", ann.as(OPERATOR).post("/v1/imports", marked), 201);
        }
        // In a text, it is a character like any other.
        HttpCaller.Answer kept = ann.as(OPERATOR).post("/v1/imports", imported("\\\"\uFEFFHi"));
        checked("importCheckpoint", kept, 201);
        assertThat(ann.as(OPERATOR)
                        .get("/v1/threads/" + kept.text("thread") + "/checkpoint?format=runner")
                        .body()
                        .path("messages")
                        .path(0)
                        .path("content")
                        .asText())
                .isEqualTo("\"\uFEFFHi");
    }

    private static String escaped(JsonNode checkpoint) {
        return checkpoint.toString().replace("'", "\\u0027");
    }

    @Test
    void operatorFields_fromOtherCallers_areRefused() throws Exception {
        for (String field : List.of("'context':{'tenant':'other'}", "'maxIterations':99")) {
            assertThat(problem(ann.post("/v1/threads", "{'agent':'assistant','message':'Hi'," + field + "}")))
                    .isEqualTo("403 RoleRequired");
            assertThat(ann.as(OPERATOR)
                            .post("/v1/threads", "{'agent':'assistant','message':'Hi'," + field + "}")
                            .status())
                    .isEqualTo(201);
        }
        String thread = ann.start("assistant", "Hi");
        awaitStatus(ann, thread, "complete");
        assertThat(problem(ann.post("/v1/threads/" + thread + "/budget", "{'usd':5}")))
                .isEqualTo("403 RoleRequired");
        checked("raiseBudget", ann.as(OPERATOR).post("/v1/threads/" + thread + "/budget", "{'iterations':50}"), 202);
    }

    @Test
    void agents_withoutDirectory_areReportedByWorkers() throws Exception {
        HttpCaller caller = HttpCaller.of(threads.serveAgentsOfWorkers(), ANN);

        JsonNode agents = checked("listAgents", caller.get("/v1/agents"), 200).path("agents");

        assertThat(agents.findValuesAsText("name"))
                .containsExactly("asker", "assistant", "billing", "guide", "reader", "shopper");
        assertThat(agents.get(1).path("description").asText()).isEqualTo("Says hello");
        assertThat(threads.client().lists().find("waymark-agents")).isEqualTo("waymark-agents");
    }

    @Test
    void agents_withoutWorker_areEmpty(@TempDir Path empty) throws Exception {
        try (ServedThreads lonely = ServedThreads.withoutWorker(InMemoryServer.start(0), empty)) {
            HttpCaller caller = HttpCaller.of(lonely.serveAgentsOfWorkers(), ANN);
            long begun = System.nanoTime();

            assertThat(checked("listAgents", caller.get("/v1/agents"), 200).path("agents"))
                    .isEmpty();
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(10));
        }
    }

    @Test
    void agents_withDirectory_areReadFromIt() throws Exception {
        JsonNode agents = checked("listAgents", ann.get("/v1/agents"), 200).path("agents");

        assertThat(agents.findValuesAsText("name"))
                .containsExactly("asker", "assistant", "billing", "guide", "reader", "shopper");
        assertThat(agents.get(1).path("description").asText()).isEqualTo("Says hello");
        assertThat(problem(ann.post("/v1/threads", "{'agent':'nobody','message':'Hi'}")))
                .isEqualTo("404 NotFound");
    }

    @Test
    void caller_hasSubjectGroupsAndRolesOfItsToken() throws Exception {
        assertThat(checked("getCaller", ann.as(CAROL).get("/v1/me"), 200).toString())
                .startsWith("{\"subject\":\"carol\",\"groups\":[\"support\"],\"roles\":[\"look\",\"decide\"],"
                        + "\"temporal\":{\"namespace\":\"default\",\"address\":\"127.0.0.1:");
        checked("getHealth", ann.asNobody().get("/v1/health"), 200);
        checked("getDocument", ann.asNobody().get("/v1/openapi.json"), 200);
    }

    @Test
    void badRequests_areRefusedWithTheirProblemCode() throws Exception {
        String thread = ann.start("assistant", "Hi");
        assertThat(problem(ann.post("/v1/threads", "{'agent':'assistant'}"))).isEqualTo("400 BadInput");
        assertThat(problem(ann.post("/v1/threads", "{'agent':'assistant','message':'Hi','more':1}")))
                .isEqualTo("400 BadInput");
        assertThat(problem(ann.post("/v1/threads", "{'agent':'a','agent':'b','message':'Hi'}")))
                .isEqualTo("400 BadInput");
        assertThat(problem(ann.post("/v1/threads", "nonsense"))).isEqualTo("400 BadInput");
        assertThat(problem(ann.post("/v1/threads/" + thread + "/settle", "{'callId':'tu_9','outcome':'done'}")))
                .isEqualTo("404 NotFound");
        assertThat(problem(ann.get("/v1/threads/" + thread + "/checkpoint?format=none")))
                .isEqualTo("400 BadInput");
        assertThat(problem(ann.get("/v1/threads/" + thread + "/checkpoint?at=99")))
                .isEqualTo("404 NotFound");
        assertThat(problem(ann.get("/v1/threads/" + thread + "?what=1"))).isEqualTo("400 BadInput");
        assertThat(problem(ann.get("/v1/threads/%ff"))).isEqualTo("400 BadInput");
        assertThat(problem(ann.get("/v1/nothing"))).isEqualTo("404 NotFound");
        assertThat(problem(ann.send(ann.request("/v1/threads/" + thread).DELETE())))
                .isEqualTo("405 MethodNotAllowed");
        assertThat(problem(ann.send(ann.request("/v1/threads")
                        .header("Content-Type", "text/plain")
                        .POST(HttpRequest.BodyPublishers.ofString("{\"agent\":\"assistant\",\"message\":\"Hi\"}")))))
                .isEqualTo("415 UnsupportedMediaType");
    }

    /** Checks the status of an answer and validates its body against the document. Returns the body. */
    private static JsonNode checked(String operation, HttpCaller.Answer answer, int status) {
        assertThat(answer.status()).as(answer.body().toString()).isEqualTo(status);
        JsonNode documented = StreamSupport.stream(DOCUMENT.json().path("paths").spliterator(), false)
                .flatMap(path -> StreamSupport.stream(path.spliterator(), false))
                .filter(known -> known.path("operationId").asText().equals(operation))
                .findFirst()
                .orElseThrow();
        JsonNode schema = documented
                .path("responses")
                .path(String.valueOf(status))
                .path("content")
                .path("application/json")
                .path("schema");
        assertThat(schema.isMissingNode()).as(operation + " has no " + status).isFalse();
        assertThat(ToolArguments.problem(
                        DOCUMENT.selfContained(schema),
                        Json.of(PayloadJson.MAPPER.convertValue(answer.body(), Object.class))))
                .as(operation + " " + answer.body())
                .isEmpty();
        return answer.body();
    }

    /** Validates a problem document, and returns its status and its code. */
    private static String problem(HttpCaller.Answer answer) {
        assertThat(answer.response().headers().firstValue("Content-Type"))
                .as(answer.body().toString())
                .contains("application/problem+json");
        JsonNode schema = DOCUMENT.json().at("/components/schemas/Problem");
        assertThat(ToolArguments.problem(
                        DOCUMENT.selfContained(schema),
                        Json.of(PayloadJson.MAPPER.convertValue(answer.body(), Object.class))))
                .isEmpty();
        assertThat(answer.body().path("status").intValue()).isEqualTo(answer.status());
        return answer.status() + " " + answer.text("code");
    }

    private static void awaitStatus(HttpCaller caller, String thread, String status) {
        await().atMost(Duration.ofMinutes(1))
                .untilAsserted(() -> assertThat(caller.get("/v1/threads/" + thread)
                                .body()
                                .path("status")
                                .asText())
                        .isEqualTo(status));
    }
}
