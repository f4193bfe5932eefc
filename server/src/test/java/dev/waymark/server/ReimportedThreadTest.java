package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static dev.waymark.server.ServedThreads.BOB;
import static dev.waymark.server.ServedThreads.CAROL;
import static dev.waymark.server.ServedThreads.DAVE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.state.ThreadIdentity;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Checkpoints of closed threads, imported by somebody who may not decide: only one that shows the thread as this server
 * has it continues the thread, as {@code resume} would.
 */
class ReimportedThreadTest {
    private static final String GROUP = "'group':'support'";

    @TempDir
    private static Path directory;

    private static ServedThreads threads;
    /** Dave may talk, and not decide. Carol, of the same group, may decide, and not talk. */
    private static HttpCaller dave;

    private static HttpCaller carol;
    private static Path effects;
    private static Path gate;

    @BeforeAll
    static void start() throws Exception {
        Path agents = Files.createDirectories(directory.resolve("agents"));
        effects = agents.resolve("effects.txt");
        gate = agents.resolve("gate");
        Files.writeString(agents.resolve("payer.yaml"), """
                model: scripted:payer.script.yaml
                tools:
                  - name: charge
                    description: Charges
                    input: { type: object }
                    command: ["sh", "-c", "cat >> effects.txt"]
                    approval: always
                """);
        Files.writeString(agents.resolve("payer.script.yaml"), """
                replies:
                  - tool_calls: [{ id: tu_1, name: charge, input: { cents: 5 } }]
                  - text: Over.
                """);
        Files.writeString(agents.resolve("reader.yaml"), """
                model: scripted:reader.script.yaml
                fuse: 0
                tools:
                  - name: peek
                    description: Reads
                    input: { type: object }
                    command: ["sh", "-c", "echo $WAYMARK_TOOL >> effects.txt; while [ ! -e gate ]; do sleep 0.1; done"]
                    safe_to_retry: true
                  - name: send
                    description: Sends
                    input: { type: object }
                    command: ["sh", "-c", "echo $WAYMARK_TOOL >> effects.txt; while [ ! -e gate ]; do sleep 0.1; done"]
                """);
        Files.writeString(agents.resolve("reader.script.yaml"), """
                replies:
                  - tool_calls: [{ id: tu_1, name: peek, input: { at: 1 } }]
                  - text: Over.
                """);
        Files.writeString(
                agents.resolve("sender.yaml"),
                Files.readString(agents.resolve("reader.yaml")).replace("reader.script", "sender.script"));
        Files.writeString(
                agents.resolve("sender.script.yaml"),
                Files.readString(agents.resolve("reader.script.yaml")).replace("peek", "send"));
        threads = ServedThreads.inMemory(directory, Map.of());
        dave = HttpCaller.of(threads.serve(), DAVE);
        carol = dave.as(CAROL);
    }

    @AfterAll
    static void stop() throws Exception {
        threads.close();
    }

    @BeforeEach
    void forgetEffects() throws Exception {
        Files.deleteIfExists(effects);
        Files.deleteIfExists(gate);
    }

    private static HttpCaller.Answer imported(HttpCaller caller, JsonNode checkpoint, String more) throws Exception {
        return caller.post("/v1/imports", "{" + more + "'agent':'payer','checkpoint':" + checkpoint + "}");
    }

    private static HttpCaller.Answer imported(JsonNode checkpoint) throws Exception {
        return imported(dave, checkpoint, GROUP + ",");
    }

    /** Starts a thread that is terminated while its call waits for approval. */
    private static String closedWithAnApproval(HttpCaller caller, String more) throws Exception {
        String thread = openWithAnApproval(caller, more);
        threads.terminate(thread);
        awaitClosed(caller, thread);
        return thread;
    }

    private static String openWithAnApproval(HttpCaller caller, String more) throws Exception {
        String thread = caller.post("/v1/threads", "{'agent':'payer','message':'Go'" + more + "}")
                .text("thread");
        caller.awaitPending(thread, 1);
        return thread;
    }

    private static String closedWithAnApproval() throws Exception {
        return closedWithAnApproval(dave, "," + GROUP);
    }

    /** Starts a thread that is terminated while its call runs. */
    private static String terminatedInACall(String agent) throws Exception {
        String thread = dave.post("/v1/threads", "{'agent':'" + agent + "','message':'Go'," + GROUP + "}")
                .text("thread");
        await().atMost(Duration.ofSeconds(20)).until(() -> Files.exists(effects));
        threads.terminate(thread);
        awaitClosed(dave, thread);
        return thread;
    }

    private static void awaitClosed(HttpCaller caller, String thread) {
        await().atMost(Duration.ofSeconds(20))
                .until(() ->
                        !caller.get("/v1/threads/" + thread).body().path("open").booleanValue());
    }

    private static JsonNode checkpoint(String thread, String format) throws Exception {
        return dave.get("/v1/threads/" + thread + "/checkpoint?format=" + format)
                .body();
    }

    private static boolean isFromFile(HttpCaller caller, String thread) {
        return caller.awaitPending(thread, 1).get(0).path("fromFile").booleanValue();
    }

    private static void awaitStatus(String thread, String status) {
        await().atMost(Duration.ofSeconds(20))
                .until(() -> dave.get("/v1/threads/" + thread).text("status"), status::equals);
    }

    private static void approve(String thread) throws Exception {
        JsonNode item = dave.awaitPending(thread, 1).get(0);
        assertThat(carol.post(
                                "/v1/threads/" + thread + "/approve",
                                "{'callId':'tu_1','argsDigest':'"
                                        + item.path("argsDigest").asText() + "'}")
                        .status())
                .isEqualTo(202);
    }

    @ParameterizedTest
    @ValueSource(strings = {"thread", "session", "phases"})
    void checkpointOfAClosedThread_continuesIt_once(String format) throws Exception {
        String closed = closedWithAnApproval();
        JsonNode checkpoint = checkpoint(closed, format);

        HttpCaller.Answer answer = imported(checkpoint);
        String thread = answer.text("thread");
        assertThat(answer.text("continues")).isEqualTo(closed);
        assertThat(isFromFile(dave, thread)).isFalse();
        assertThat(effects).doesNotExist();

        // Only one thread continues: whatever comes later is a copy, whose call does not run.
        HttpCaller.Answer again = imported(checkpoint);
        assertThat(again.body().has("continues")).isFalse();
        if (!format.equals("session")) { // Its log does not say whether the call has begun.
            assertThat(isFromFile(dave, again.text("thread"))).isTrue();
        }
        assertThat(dave.post("/v1/threads/" + closed + "/resume", "{}").status())
                .isEqualTo(400);

        approve(thread);
        awaitStatus(thread, "complete");
        assertThat(effects).content().isEqualTo("{\"cents\":5}\n");
    }

    @Test
    void callThatIsSafeToRetry_runsAgain_asInAResumedThread() throws Exception {
        String closed = terminatedInACall("reader");
        JsonNode checkpoint = checkpoint(closed, "thread");

        assertThat(dave.post("/v1/imports", "{" + GROUP + ",'review':true,'checkpoint':" + checkpoint + "}")
                        .body()
                        .path("continues")
                        .asText())
                .isEqualTo(closed);
        HttpCaller.Answer answer = dave.post("/v1/imports", "{" + GROUP + ",'checkpoint':" + checkpoint + "}");
        Files.createFile(gate);
        awaitStatus(answer.text("thread"), "complete");

        assertThat(effects).content().isEqualTo("peek\npeek\n");
    }

    @Test
    void callThatWasClaimed_hasAnUnknownOutcome_asInAResumedThread() throws Exception {
        String closed = terminatedInACall("sender");
        HttpCaller.Answer answer =
                dave.post("/v1/imports", "{" + GROUP + ",'checkpoint':" + checkpoint(closed, "thread") + "}");
        awaitStatus(answer.text("thread"), "complete");

        assertThat(answer.text("continues")).isEqualTo(closed);
        assertThat(dave.list(answer.text("thread"), "calls")
                        .get(0)
                        .path("status")
                        .asText())
                .isEqualTo("lost");
        assertThat(effects).content().isEqualTo("send\n");
    }

    @Test
    void sameRequestTwice_isOneThread() throws Exception {
        String closed = closedWithAnApproval();
        String body = "{" + GROUP + ",'agent':'payer','checkpoint':" + checkpoint(closed, "thread") + "}";

        HttpCaller.Answer first = dave.post("/v1/imports", body, "import-own-1");
        HttpCaller.Answer second = dave.post("/v1/imports", body, "import-own-1");

        assertThat(first.status()).isEqualTo(201);
        assertThat(second.body()).isEqualTo(first.body());
    }

    @Test
    void requestThatWasACopy_isTheSameCopy_onceTheThreadHasClosed() throws Exception {
        String open = openWithAnApproval(dave, "," + GROUP);
        String body = "{" + GROUP + ",'agent':'payer','checkpoint':" + checkpoint(open, "thread") + "}";
        HttpCaller.Answer first = dave.post("/v1/imports", body, "import-own-2");
        threads.terminate(open);
        awaitClosed(dave, open);
        HttpCaller.Answer second = dave.post("/v1/imports", body, "import-own-2");

        assertThat(first.body().has("continues")).isFalse();
        assertThat(isFromFile(dave, first.text("thread"))).isTrue();
        assertThat(second.body()).isEqualTo(first.body());
        assertThat(dave.post("/v1/threads/" + open + "/resume", "{}").status()).isEqualTo(201);
    }

    /** A refusal must not use up the one continuation that a thread has. */
    @Test
    void answerWhereNoQuestionIsOpen_isRefused_andTheThreadCanStillBeResumed() throws Exception {
        String resumed = closedWithAnApproval();
        String imported = closedWithAnApproval();

        assertThat(dave.post("/v1/threads/" + resumed + "/resume", "{'answer':'x'}")
                        .status())
                .isEqualTo(404);
        assertThat(dave.post("/v1/threads/" + resumed + "/resume", "{}").status())
                .isEqualTo(201);
        assertThat(imported(dave, checkpoint(imported, "thread"), GROUP + ",'answer':'x',")
                        .status())
                .isEqualTo(404);
        assertThat(imported(checkpoint(imported, "thread")).text("continues")).isEqualTo(imported);
    }

    /** What the server looks for in it must not take longer the longer it is. */
    @Test
    @Timeout(20)
    void veryLongId_isThatOfNoThread() throws Exception {
        ObjectNode checkpoint = checkpoint(closedWithAnApproval(), "thread").deepCopy();
        checkpoint.put("threadId", "a".repeat(4_000_000));

        assertThat(imported(checkpoint).body().has("continues")).isFalse();
    }

    private static void waits(HttpCaller.Answer answer, HttpCaller caller) {
        assertThat(answer.status()).as(answer.body().toString()).isEqualTo(201);
        assertThat(answer.body().has("continues")).isFalse();
        assertThat(isFromFile(caller, answer.text("thread"))).isTrue();
    }

    @Test
    void anythingElseThanThisServerHas_waits() throws Exception {
        String closed = closedWithAnApproval();
        ObjectNode checkpoint = (ObjectNode) checkpoint(closed, "thread");
        for (Consumer<ObjectNode> change : changes()) {
            ObjectNode changed = checkpoint.deepCopy();
            change.accept(changed);
            assertThat(changed).isNotEqualTo(checkpoint);
            waits(imported(changed), dave);
        }
        assertThat(dave.post("/v1/threads/" + closed + "/resume", "{}").status())
                .isEqualTo(201);
    }

    private static Iterable<Consumer<ObjectNode>> changes() {
        return List.of(
                file -> file.put("step", 2),
                file -> file.put("updatedAt", "2026-05-01T09:00:00.003Z"),
                file -> file.put("more", "than the format has"),
                file -> ((ObjectNode) file.at("/messages/0")).put("content", "Go on"),
                file -> {
                    ((ObjectNode) file.at("/messages/1/content/0/input")).put("cents", 500);
                    ((ObjectNode) file.at("/interrupt/toolCall/args")).put("cents", 500);
                });
    }

    @Test
    void callThatTheFileShowsInAnotherState_isThatOfACopy() throws Exception {
        String closed = closedWithAnApproval();
        ObjectNode checkpoint = (ObjectNode) checkpoint(closed, "thread");
        checkpoint.remove("interrupt");

        assertThat(imported(checkpoint).body().has("continues")).isFalse();
        assertThat(dave.post("/v1/threads/" + closed + "/resume", "{}").status())
                .isEqualTo(201);
    }

    @Test
    void otherThreadThanTheCallers_isACopy_asIfThereWereNone() throws Exception {
        String ofAnn = closedWithAnApproval(dave.as(ANN), "");
        JsonNode checkpoint = dave.as(ANN)
                .get("/v1/threads/" + ofAnn + "/checkpoint?format=thread")
                .body();
        ObjectNode ofNobody = checkpoint.deepCopy();
        ofNobody.put("threadId", "t-that-does-not-exist");
        HttpCaller.Answer known = imported(checkpoint);
        HttpCaller.Answer unknown = imported(ofNobody);

        waits(known, dave);
        waits(unknown, dave);
        assertThat(withoutIds(known)).isEqualTo(withoutIds(unknown));
        assertThat(dave.as(ANN).post("/v1/threads/" + ofAnn + "/resume", "{}").status())
                .isEqualTo(201);
    }

    private static JsonNode withoutIds(HttpCaller.Answer answer) {
        ObjectNode body = answer.body().deepCopy();
        body.remove("thread");
        body.remove("runId");
        body.path("calls").forEach(call -> ((ObjectNode) call).remove("since"));
        return body;
    }

    @Test
    void threadOfTheGroup_importedForTheCallerAlone_isACopy() throws Exception {
        String closed = closedWithAnApproval();
        HttpCaller.Answer answer = imported(dave, checkpoint(closed, "thread"), "");

        waits(answer, dave);
        assertThat(carol.get("/v1/threads/" + answer.text("thread")).status()).isEqualTo(404);
    }

    @Test
    void threadThatIsOpen_isACopy() throws Exception {
        String open = openWithAnApproval(dave, "," + GROUP);

        waits(imported(checkpoint(open, "thread")), dave);
    }

    @Test
    void importByACallerWhoMayDecide_isACopy() throws Exception {
        HttpCaller bob = dave.as(BOB);
        String closed = closedWithAnApproval(bob, "");
        JsonNode checkpoint =
                bob.get("/v1/threads/" + closed + "/checkpoint?format=thread").body();
        HttpCaller.Answer answer = imported(bob, checkpoint, "");

        assertThat(answer.body().has("continues")).isFalse();
        assertThat(bob.post("/v1/threads/" + closed + "/resume", "{}").status()).isEqualTo(201);
    }

    /** A conversation without open calls may be copied any number of times. */
    @Test
    void threadThatIsComplete_isACopy() throws Exception {
        String closed = dave.post("/v1/threads", "{'agent':'assistant','message':'Hi','once':true," + GROUP + "}")
                .text("thread");
        awaitClosed(dave, closed);
        for (int i = 0; i < 2; i++) {
            HttpCaller.Answer answer = dave.post(
                    "/v1/imports",
                    "{" + GROUP + ",'agent':'assistant','answer':'Again','checkpoint':" + checkpoint(closed, "thread")
                            + "}");
            assertThat(answer.status()).isEqualTo(201);
            assertThat(answer.body().has("continues")).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {" ", "a/b", "../x", "t~0", "~0", "a\u0000b", "LONG", "waymark-agents"})
    void idThatNoThreadHas_isACopy(String id) throws Exception {
        ObjectNode checkpoint = (ObjectNode) checkpoint(closedWithAnApproval(), "thread");
        checkpoint.put("threadId", id.equals("LONG") ? "x".repeat(5_000) : id);

        waits(imported(PayloadJson.MAPPER.readTree(checkpoint.toString())), dave);
    }

    /** Nobody here can read the history of this thread: a newer version of Waymark has started it. */
    @Test
    void threadThatCannotBeRead_isACopy() throws Exception {
        ObjectNode checkpoint = (ObjectNode) checkpoint(closedWithAnApproval(), "thread");
        threads.startRaw(
                "newer-than-this",
                Map.of("agent", "payer", "rules", ThreadIdentity.RULES + 1, "owner", Map.of("group", "support")));
        threads.terminate("newer-than-this");
        checkpoint.put("threadId", "newer-than-this");

        waits(imported(checkpoint), dave);
    }
}
