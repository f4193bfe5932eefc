package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Command.Done;
import dev.waymark.e2e.product.Dev;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs commands as a shell does. Each test has its own threads. */
@Tag("full")
class CommandsTest {
    @TempDir
    static Path directory;

    private static Dev dev;
    private static Command waymark;

    @BeforeAll
    static void startDev() {
        dev = Dev.inMemory(new Agents(directory)
                .assistant()
                .greeter()
                .tenant()
                .counter()
                .slow("slow", "6s")
                .directory());
        waymark = Command.warmAt(dev.address());
    }

    @AfterAll
    static void stopDev() {
        if (dev != null) {
            dev.close();
        }
    }

    @Test
    void run_completes_printsTheTextAndNothingElse() {
        assertThat(waymark.run("run", "--agent", "greeter", "Hi")).isEqualTo(new Done(0, "Hello.\n", ""));
    }

    @Test
    void run_json_isOneDocument() {
        Done done = waymark.run("run", "--agent", "greeter", "Hi", "--json");

        assertThat(done.exitCode()).isZero();
        assertThat(done.err()).isEmpty();
        assertThat(names(done.json()))
                .contains(
                        "status",
                        "interrupted",
                        "thread",
                        "runId",
                        "text",
                        "structured",
                        "messages",
                        "usage",
                        "iterations",
                        "costUsd",
                        "checkpoint");
        assertThat(done.json().get("thread").textValue()).startsWith("run-");
    }

    @Test
    void run_withContext_overridesTheAgentsContextInPrograms() {
        Done done = waymark.run("run", "--agent", "tenant", "--context", "{\"tenant\":\"initech\"}", "Who?", "--json");

        assertThat(done.json()
                        .get("messages")
                        .get(2)
                        .get("content")
                        .get(0)
                        .get("content")
                        .textValue())
                .isEqualTo("{\"plan\": \"gold\", \"tenant\": \"initech\"}");
        assertThat(waymark.run("run", "--agent", "tenant", "--context", "[1]", "Who?"))
                .isEqualTo(
                        new Done(2, "", "waymark: the context is no JSON object. Example: {\"tenant\": \"acme\"}\n"));
    }

    @Test
    void run_withSchema_asksAgainUntilTheReplyFits() throws IOException {
        Done fits = counted("{\"type\":\"object\",\"required\":[\"n\"]}");
        assertThat(fits.exitCode()).isZero();
        assertThat(fits.json().get("structured").toString()).isEqualTo("{\"n\":3}");
        assertThat(fits.json().get("iterations").intValue()).isEqualTo(2);
        assertThat(waymark.run(
                        "run", "--agent", "counter", "--schema", schemaFile().toString(), "How many?"))
                .isEqualTo(new Done(0, "{\"n\": 3}\n", ""));

        Done never = counted("{\"type\":\"object\",\"required\":[\"m\"]}");
        assertThat(never.exitCode()).isEqualTo(1);
        assertThat(never.json().get("error").get("type").textValue()).isEqualTo("SchemaMismatch");
        assertThat(never.json().get("structured").isNull()).isTrue();

        for (String none : List.of("[]", "{\"type\":\"many\"}", "{")) {
            Done refused = counted(none);
            assertThat(refused.exitCode()).as(none).isEqualTo(2);
            assertThat(refused.err()).startsWith("waymark: the ").hasLineCount(1);
            assertThat(refused.json().get("error").get("type").textValue()).isEqualTo("BadInput");
        }
        assertThat(waymark.run("run", "--agent", "counter", "--schema", "none.json", "How many?")
                        .exitCode())
                .isEqualTo(3);
    }

    @Test
    void run_openThreadWithAnotherLimit_isRefused() {
        waymark.run("run", "--agent", "greeter", "--thread", "limited", "--volatile", "--max-iterations", "2", "Hi");

        assertThat(waymark.run("run", "--thread", "limited", "--max-iterations", "2", "Hi")
                        .exitCode())
                .isZero();
        assertThat(waymark.run("run", "--thread", "limited", "--max-iterations", "3", "Hi"))
                .isEqualTo(new Done(
                        2,
                        "",
                        "waymark: the thread already has a limit of iterations: limited."
                                + " Raise it with: waymark budget limited --iterations 3\n"));
    }

    private static Path schemaFile() {
        return directory.resolve("schema.json");
    }

    private static Done counted(String schema) throws IOException {
        Path file = Files.writeString(schemaFile(), schema);
        return waymark.run("run", "--agent", "counter", "--schema", file.toString(), "How many?", "--json");
    }

    @Test
    void run_localeWithoutUtf8_sendsTheTypedText() {
        Done done = Command.at(dev.address())
                .with("LC_ALL", "C")
                .run("run", "--agent", "greeter", "Grüße, 日本 😀", "--json");

        assertThat(done.json().get("messages").get(0).get("content").textValue())
                .isEqualTo("Grüße, 日本 😀");
    }

    @Test
    void question_inOneProcess_isAnsweredInAnother() {
        Done asked = waymark.run("run", "--agent", "assistant", "Book a table", "--json");
        String thread = asked.json().get("thread").textValue();
        assertThat(asked.exitCode()).isZero();
        assertThat(asked.json().get("question").textValue()).isEqualTo("Which day?");
        assertThat(asked.json().get("checkpoint").get("pendingToolUseId").textValue())
                .isEqualTo("tu_7");

        JsonNode pending = waymark.run("pending", "--json").json();
        assertThat(StreamSupport.stream(pending.spliterator(), false)
                        .map(item -> item.get("thread").textValue()))
                .contains(thread);

        assertThat(waymark.run("answer", thread, "Friday")).isEqualTo(new Done(0, "Booked.\n", ""));
        assertThat(waymark.run("result", thread)).isEqualTo(new Done(0, "Booked.\n", ""));
        assertThat(waymark.run("verify", thread).exitCode()).isZero();

        Done again = waymark.run("answer", thread, "Monday", "--json");
        assertThat(again.exitCode()).isEqualTo(3);
        assertThat(again.err().lines()).hasSize(1);
        assertThat(again.json().get("error").get("type").textValue()).isEqualTo("Closed");
    }

    @Test
    void run_unknownAgent_isNotFound() {
        Done done = waymark.run("run", "--agent", "nobody", "Hi", "--json");

        assertThat(done.exitCode()).isEqualTo(3);
        assertThat(done.err().lines()).hasSize(1);
        assertThat(done.json().get("status").textValue()).isEqualTo("failed");
        assertThat(done.json().get("error").get("type").textValue()).isEqualTo("NotFound");
    }

    @Test
    void run_interruptedWithAssertComplete_exitsWith4() {
        Done done = waymark.run("run", "--agent", "assistant", "Book", "--assert-complete");

        assertThat(done.exitCode()).isEqualTo(4);
        assertThat(done.err()).contains("waymark: Agent interrupted: Which day?");
    }

    @Test
    void namedThread_inMemory_needsConsent() {
        Done refused = waymark.run("run", "--agent", "greeter", "--thread", "named", "Hi", "--json");
        assertThat(refused.exitCode()).isEqualTo(2);
        assertThat(refused.json().get("error").get("type").textValue()).isEqualTo("VolatileStore");
        assertThat(refused.err()).contains("--volatile");
        assertThat(waymark.run("show", "named").exitCode()).isEqualTo(3);
    }

    @Test
    void namedThread_takesTurnsUntilItIsClosed() {
        String[] start = {"run", "--agent", "greeter", "--thread", "turns", "--volatile", "Hi"};
        assertThat(waymark.run(start)).isEqualTo(new Done(0, "Hello.\n", ""));
        assertThat(waymark.run("run", "--thread", "turns", "And again")).isEqualTo(new Done(0, "Hello.\n", ""));
        assertThat(waymark.run("run", "--thread", "turns", "--agent", "slow", "Hi")
                        .exitCode())
                .isEqualTo(2);
        assertThat(waymark.run("close", "turns").out()).isEqualTo("closed: turns\n");
        Done closed = waymark.run(start);
        assertThat(closed.exitCode()).isEqualTo(3);
        assertThat(closed.err()).contains("waymark resume turns");
        assertThat(waymark.run("show", "turns", "--json").json().get("messages"))
                .hasSize(4);
    }

    @Test
    void say_duringAnInterruption_queuesAndReportsTheQuestion() {
        waymark.run("run", "--agent", "assistant", "--thread", "queue", "--volatile", "Book");
        JsonNode said = waymark.run("say", "queue", "Hurry", "--json").json();
        assertThat(said.get("status").textValue()).isEqualTo("interrupted");
        assertThat(said.get("queued").intValue()).isEqualTo(1);

        assertThat(waymark.run("stop", "queue").out()).isEqualTo("stopped: queue\n");
        assertThat(waymark.run("show", "queue", "--json").json().get("queued").intValue())
                .isEqualTo(1);
        assertThat(waymark.run("clear", "queue").exitCode()).isZero();
        JsonNode cleared = waymark.run("show", "queue", "--json").json();
        assertThat(cleared.get("messages")).isEmpty();
        assertThat(cleared.get("queued").intValue()).isZero();
    }

    @Test
    void checkpoint_ofAnEarlierVersion_isAvailable() {
        waymark.run("run", "--agent", "assistant", "--thread", "versions", "--volatile", "Book");
        waymark.run("answer", "versions", "Friday");
        JsonNode versions = waymark.run("checkpoints", "versions", "--json").json();

        assertThat(versions).hasSize(3);
        JsonNode first =
                waymark.run("checkpoint", "versions", "--at", "1", "--json").json();
        assertThat(first.get("pendingToolUseId").textValue()).isEqualTo("tu_7");
        String place = versions.get(0).get("runId").textValue() + "/e"
                + versions.get(0).get("eventId").longValue();
        assertThat(waymark.run("checkpoint", "versions", "--at", place, "--json")
                        .json())
                .isEqualTo(first);
        assertThat(waymark.run("checkpoint", "versions", "--at", "99").exitCode())
                .isEqualTo(3);
        assertThat(waymark.run("checkpoint", "versions").json().has("pendingToolUseId"))
                .isFalse();
    }

    @Test
    void watch_closedThread_printsEveryFactAndEnds() throws IOException {
        String thread = waymark.run("run", "--agent", "greeter", "Hi", "--json")
                .json()
                .get("thread")
                .textValue();
        Done watched = waymark.run("watch", thread, "--json");

        JsonMapper json = new JsonMapper();
        List<String> lines = watched.out().lines().toList();
        assertThat(json.readTree(lines.get(0)).get("type").textValue()).isEqualTo("run-started");
        JsonNode last = json.readTree(lines.get(lines.size() - 1));
        assertThat(last.get("type").textValue()).isEqualTo("checkpoint-saved");
        assertThat(last.get("step").intValue()).isEqualTo(1);
        assertThat(json.readTree(lines.get(lines.size() - 2)).get("type").textValue())
                .isEqualTo("model-replied");
        assertThat(names(last)).contains("at", "runId", "eventId");
    }

    @Test
    void messages_fromAFile_replaceTheConversation() throws IOException {
        Path file = directory.resolve("messages.json");
        Files.writeString(
                file, "[{\"role\":\"user\",\"content\":\"Hi\"},{\"role\":\"assistant\",\"content\":\"Hello\"}]");
        Done done = waymark.run("run", "--agent", "greeter", "--messages", file.toString(), "And now?", "--json");
        assertThat(done.json().get("messages")).hasSize(4);

        Files.writeString(file, "[{\"role\":\"system\",\"content\":\"Hi\"}]");
        Done corrupt = waymark.run("run", "--agent", "greeter", "--messages", file.toString(), "--json");
        assertThat(corrupt.exitCode()).isEqualTo(2);
        assertThat(corrupt.json().get("error").get("type").textValue()).isEqualTo("CheckpointCorruption");
    }

    @Test
    void run_takesTooLong_exitsWith6WhileTheTurnContinues() {
        Done late = waymark.run("run", "--agent", "slow", "Hi", "--timeout", "500ms", "--json");
        assertThat(late.exitCode()).isEqualTo(6);
        assertThat(late.json().get("error").get("type").textValue()).isEqualTo("TimedOut");

        assertThat(waymark.run("result", late.json().get("thread").textValue()).out())
                .isEqualTo("At last.\n");
    }

    @Test
    void noWait_returnsBeforeTheOutcome() {
        Done started = waymark.run("run", "--agent", "greeter", "--no-wait", "Hi", "--json");
        assertThat(names(started.json())).containsExactly("status", "thread", "runId");
        assertThat(started.json().get("status").textValue()).isEqualTo("running");

        assertThat(waymark.run("result", started.json().get("thread").textValue())
                        .out())
                .isEqualTo("Hello.\n");
    }

    @Test
    void cancel_endsTheThread() {
        waymark.run("run", "--agent", "assistant", "--thread", "cancelled", "--volatile", "Book");
        assertThat(waymark.run("cancel", "cancelled").out()).isEqualTo("cancelled: cancelled\n");
        assertThat(waymark.run("result", "cancelled", "--json").exitCode()).isEqualTo(1);
    }

    @Test
    void run_noWorkerPolls_exitsWith6() {
        Done done = waymark.with("WAYMARK_TASK_QUEUE", "nobodys").run("run", "--agent", "greeter", "Hi", "--json");

        assertThat(done.exitCode()).isEqualTo(6);
        assertThat(done.json().get("error").get("type").textValue()).isEqualTo("NoWorker");
        assertThat(done.err()).contains("waymark worker");
        assertThat(done.err().lines()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"runner", "thread", "phases", "messages", "session", "versions"})
    void checkpoint_ofAnyFormat_canBeResumed(String format) throws IOException {
        String thread = "left-" + format;
        waymark.run("run", "--agent", "assistant", "--thread", thread, "--volatile", "Book");
        Done checkpoint = waymark.run("checkpoint", thread, "--format", format);
        Path file = Files.writeString(directory.resolve(format + ".json"), checkpoint.out());

        Done resumed = waymark.run(
                "resume",
                file.toString(),
                "--agent",
                "assistant",
                "--answer",
                "Friday",
                "--thread",
                thread + "-2",
                "--volatile");
        Done again = waymark.run(
                "resume",
                file.toString(),
                "--agent",
                "assistant",
                "--answer",
                "Friday",
                "--thread",
                thread + "-2",
                "--volatile");

        assertThat(resumed).isEqualTo(new Done(0, "Booked.\n", ""));
        assertThat(again).isEqualTo(resumed);
        assertThat(waymark.run("verify", thread + "-2").exitCode()).isZero();
    }

    @Test
    void resume_corruptFile_isRefusedBeforeAnythingStarts() throws IOException {
        Path file = Files.writeString(directory.resolve("corrupt.json"), "{\"messages\":[");

        Done done = waymark.run("resume", file.toString(), "--json");

        assertThat(done.exitCode()).isEqualTo(2);
        assertThat(done.json().get("error").get("type").textValue()).isEqualTo("CheckpointCorruption");
    }

    @Test
    void resume_checkpointOfOpenThreadOrWithoutAgent_isRefused() throws IOException {
        waymark.run("run", "--agent", "assistant", "--thread", "open-still", "--volatile", "Book");
        Path named = Files.writeString(
                directory.resolve("named.json"),
                waymark.run("checkpoint", "open-still", "--format", "thread").out());
        Path unnamed = Files.writeString(
                directory.resolve("unnamed.json"),
                waymark.run("checkpoint", "open-still").out());

        assertThat(waymark.run("resume", named.toString()).err()).contains("still open", "waymark answer");
        assertThat(waymark.run("resume", named.toString()).exitCode()).isEqualTo(2);
        assertThat(waymark.run("resume", unnamed.toString(), "--answer", "x").exitCode())
                .isEqualTo(2);
    }

    @Test
    void fork_withOpenQuestion_isAskedAndAnsweredSeparately() {
        waymark.run("run", "--agent", "assistant", "--thread", "trunk", "--volatile", "Book");

        Done forked = waymark.run("fork", "trunk", "--thread", "branch", "--volatile", "--json");

        assertThat(forked.json().get("status").textValue()).isEqualTo("interrupted");
        assertThat(waymark.run("answer", "branch", "Friday").out()).isEqualTo("Booked.\n");
        assertThat(waymark.run("pending", "trunk").out()).contains("Which day?");
        assertThat(waymark.run("verify", "branch").exitCode()).isZero();
    }

    @Test
    void fork_inMidTurn_saysHowToContinue() {
        waymark.run("run", "--agent", "slow", "--thread", "mid", "--volatile", "--no-wait", "Go");

        Done forked = waymark.run("fork", "mid", "--thread", "mid-copy", "--volatile");
        JsonNode again = waymark.run("fork", "mid", "--thread", "mid-copy-2", "--volatile", "--json")
                .json();

        assertThat(forked.exitCode()).isZero();
        assertThat(forked.out()).isEqualTo("forked: mid-copy\n");
        assertThat(forked.err())
                .contains("say mid-copy TEXT", "Its last turn is stopped. Continue that turn with:")
                .contains("say mid-copy --retry");
        assertThat(again.at("/forkedFrom/thread").textValue()).isEqualTo("mid");
        assertThat(again.at("/forkedFrom/at").textValue()).matches("[-0-9a-f]+/e\\d+");
        assertThat(waymark.run("sessions").out()).containsPattern("(?m)^mid-copy +stopped \\(forked\\) ");
        assertThat(waymark.run("show", "mid-copy").out())
                .contains("! Forked: the thread was forked in the middle of this turn");
        assertThat(waymark.run("show", "mid-copy", "--json")
                        .json()
                        .at("/error/type")
                        .textValue())
                .isEqualTo("Forked");
        assertThat(waymark.run("say", "mid-copy", "--retry").exitCode()).isZero();
    }

    @Test
    void resume_completeCheckpointWithoutResult_leavesItsToolUnknown() throws IOException {
        Path file = Files.writeString(directory.resolve("complete.json"), """
                [{"role":"user","content":"Go"},
                 {"role":"assistant","content":"","toolCalls":[{"id":"c1","name":"charge","arguments":{}}]},
                 {"role":"user","content":"Well?"},
                 {"role":"assistant","content":"Done."}]
                """);

        Done done = waymark.run("resume", file.toString(), "--json");

        assertThat(done.exitCode()).isZero();
        assertThat(done.json().get("status").textValue()).isEqualTo("complete");
        assertThat(done.out())
                .contains("tool-durability-error", "is not known here")
                .doesNotContain("not declared");
    }

    @Test
    void anyId_unambiguousPrefix_isAccepted() throws IOException {
        waymark.run("run", "--agent", "assistant", "--thread", "thread_3c49", "--volatile", "Book");
        waymark.run("run", "--agent", "assistant", "--thread", "thread_4", "--volatile", "Book");
        String saver = "file:" + directory.resolve("short");

        assertThat(waymark.run("show", "thread_3c4").out()).startsWith("thread_3c49: ");
        assertThat(waymark.run("show", "thread_3").out()).startsWith("thread_3c49: ");
        assertThat(waymark.run("show", "thread_").err()).contains("Matches: thread_3c49, thread_4");
        assertThat(waymark.run("save", "thread_3", "--to", saver).exitCode()).isZero();
        assertThat(waymark.run("resume", "thr", "--from", saver, "--json").err())
                .contains("still open: thread_3c49");
        assertThat(waymark.run("export", "thread_3").out()).contains("thread_3c49");
        assertThat(waymark.run("export", "thread_").err()).contains("matches several threads: thread_");
    }

    @Test
    void anyCommand_noServer_exitsWith5Soon() {
        // The start time of a process depends on the machine, so it is subtracted.
        Command elsewhere = Command.at("127.0.0.1:1");
        long before = System.nanoTime();
        elsewhere.run("--version");
        long start = System.nanoTime();
        Done done = elsewhere.run("sessions", "--json");

        Duration own = Duration.ofNanos(System.nanoTime() - start - (start - before));
        assertThat(own).isLessThan(Duration.ofSeconds(5));
        assertThat(done.exitCode()).isEqualTo(5);
        assertThat(done.err())
                .startsWith("waymark: no Temporal server answers: 127.0.0.1:1")
                .hasLineCount(1);
        assertThat(done.json().get("error").get("type").textValue()).isEqualTo("ServerUnreachable");
    }

    private static List<String> names(JsonNode object) {
        return object.properties().stream().map(java.util.Map.Entry::getKey).toList();
    }
}
