package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.connect.Connection;
import dev.waymark.contract.SuccessorMarker;
import dev.waymark.contract.WireNames;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Command.Done;
import dev.waymark.e2e.product.Dev;
import dev.waymark.e2e.product.ThreadReset;
import dev.waymark.history.HistoryReader;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.workflowservice.v1.DeleteWorkflowExecutionRequest;
import io.temporal.client.WorkflowOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Only one thread continues a closed thread, even if people and operators act concurrently, so its pending call runs
 * once.
 */
@Tag("full")
@Tag("server")
class ContinuationServerTest {
    @TempDir
    static Path directory;

    private static Dev dev;
    private static Command waymark;
    private static Connection connection;

    @BeforeAll
    static void start() throws Exception {
        Agents agents = new Agents(Files.createDirectory(directory.resolve("agents")));
        for (String name : List.of("names", "answers", "reset", "files", "older", "unknown")) {
            agents.charger(name, 1, "");
        }
        agents.greeter().above("chief", "greeter");
        agents.program("payer.sh", "echo paid >> payer.ledger; printf paid");
        agents.agent("payer", "tools: [{ name: pay, command: [./payer.sh] }]", """
                replies:
                  - tool_calls: [{ id: tu_1, name: pay, input: {} }]
                  - text: Paid.
                """);
        agents.agent("asking", "tools: [{ use: ask_user }]\nsubagents: [payer]", """
                replies:
                  - tool_calls: [{ id: tu_1, name: ask_user, input: { question: "Now?" } }]
                  - tool_calls: [{ id: tu_2, name: payer, input: { task: Pay. } }]
                  - text: Done.
                """);
        dev = Dev.durable(agents.directory());
        waymark = Command.warmAt(dev.address());
        connection = Connection.to(dev.address());
    }

    @AfterAll
    static void stop() {
        if (connection != null) {
            connection.close();
        }
        if (dev != null) {
            dev.close();
        }
    }

    /** Starts a thread that waits for an approval, and terminates it. */
    private static void terminatedThread(String name) {
        waymark.run("run", "--agent", name, "--thread", name, "Charge");
        terminate(name);
    }

    private static void terminate(String thread) {
        connection.client().newUntypedWorkflowStub(thread).terminate("an operator's decision");
    }

    private static List<String> charges(String agent) throws IOException {
        Path ledger = directory.resolve("agents/" + agent + ".ledger");
        return Files.exists(ledger) ? Files.readAllLines(ledger) : List.of();
    }

    @Test
    void resume_underSeveralNamesAtOnce_continuesInOne() throws IOException {
        terminatedThread("names");
        List<CompletableFuture<Done>> resumed = Stream.of("one", "two", "three")
                .map(name ->
                        CompletableFuture.supplyAsync(() -> waymark.run("resume", "names", "--thread", name, "--json")))
                .toList();
        List<Done> all = resumed.stream().map(CompletableFuture::join).toList();

        List<Done> going = all.stream().filter(done -> done.exitCode() == 0).toList();
        assertThat(going).hasSize(1);
        String successor = going.get(0).json().get("thread").textValue();
        assertThat(all).filteredOn(done -> done.exitCode() != 0).hasSize(2).allSatisfy(done -> {
            assertThat(done.exitCode()).isEqualTo(2);
            assertThat(done.err()).contains(" continued in another thread, " + successor + ": names.");
        });
        for (String name : List.of("one", "two", "three")) {
            waymark.run("approve", name);
        }
        assertThat(charges("names")).hasSize(1);
    }

    @Test
    void resume_duringAnUnfinishedRequest_saysHowToStartTheThread() {
        waymark.run("run", "--agent", "names", "--thread", "starting", "Charge");
        terminate("starting");
        beginContinuation("starting", "first");
        Done early = waymark.run("resume", "starting", "--thread", "second");
        Done started = waymark.run("resume", "starting", "--thread", "first");
        Done late = waymark.run("resume", "starting", "--thread", "second");
        terminate("first");
        delete("first");
        Done tooLate = waymark.run("resume", "starting", "--thread", "second");

        assertThat(early)
                .isEqualTo(refused("being continued in another thread, first: starting. If that thread does not"
                        + " appear, start it with: waymark resume starting --thread first"));
        assertThat(started.exitCode()).isZero();
        assertThat(late)
                .isEqualTo(refused("already continued in another thread, first: starting. See it with: waymark show"
                        + " first; if it is closed, continue from it with: waymark resume first"));
        assertThat(tooLate)
                .isEqualTo(refused("already continued in another thread, first: starting. That thread was deleted. For"
                        + " a copy that leaves the open calls alone: waymark fork starting --thread NEW"));
    }

    @Test
    void restore_duringAnUnfinishedContinuation_isRefused() {
        String saver = "file:" + directory.resolve("checkpoints");
        waymark.run("run", "--agent", "names", "--thread", "saved", "--saver", saver, "Charge");
        beginContinuation("saved", "elsewhere");
        terminate("saved");
        delete("saved");

        assertThat(waymark.run("approve", "saved", "--saver", saver))
                .isEqualTo(refused("being continued in another thread, elsewhere: saved. If that thread does not"
                        + " appear, start it with: waymark resume FILE --thread elsewhere"));
    }

    private static Done refused(String why) {
        return new Done(2, "", "waymark: " + why + "\n");
    }

    /** Creates the marker of a request, as if the request had been killed before it started the thread. */
    private static void beginContinuation(String closed, String thread) {
        String run = new HistoryReader(connection.client())
                .read(closed)
                .orElseThrow()
                .runId();
        WorkflowOptions options = WorkflowOptions.newBuilder()
                .setTaskQueue(WireNames.CONTINUATION_QUEUE)
                .setWorkflowId(SuccessorMarker.idOfRun(run))
                .build();
        connection
                .client()
                .newUntypedWorkflowStub(WireNames.CONTINUATION_TYPE, options)
                .start(new SuccessorMarker(thread, "a request"));
    }

    @Test
    void resume_repeated_returnsTheSameThreadAndRefusesChanges() throws IOException {
        terminatedThread("answers");
        Done first = waymark.run("resume", "answers", "--json");
        Done again = waymark.run("resume", "answers", "--json");
        Done limited = waymark.run("resume", "answers", "--max-iterations", "4", "--json");
        Done other = waymark.run("resume", "answers", "--agent", "names", "--json");

        assertThat(again.json().get("thread")).isEqualTo(first.json().get("thread"));
        assertThat(limited.exitCode()).isEqualTo(2);
        assertThat(other.exitCode()).isEqualTo(2);
        waymark.run("approve", first.json().get("thread").textValue());
        assertThat(charges("answers")).hasSize(1);
    }

    @Test
    void reset_ofAContinuedThread_repeatsNoEffect() throws IOException {
        terminatedThread("reset");
        Done resumed = waymark.run("resume", "reset", "--thread", "reset-2");
        reset("reset");
        await().atMost(Duration.ofSeconds(60))
                .until(() -> waymark.run("pending", "reset", "--json").json().size() == 1);
        Done here = waymark.run("approve", "reset", "--json");
        Done there = waymark.run("approve", "reset-2", "--json");

        assertThat(resumed.exitCode()).isZero();
        assertThat(here.json().get("messages").toString())
                .contains("it was not run, because this thread continues as reset-2");
        assertThat(there.json().get("messages").toString()).contains("charged");
        assertThat(charges("reset")).hasSize(1);
        for (String thread : List.of("reset", "reset-2")) {
            assertThat(waymark.run("verify", thread).exitCode()).as(thread).isZero();
        }
    }

    /**
     * A subagent's calls have different keys in each parent thread, so idempotency keys would not prevent repeated
     * effects.
     */
    @Test
    void reset_ofAContinuedThread_startsNoSubagent() throws IOException {
        waymark.run("run", "--agent", "asking", "--thread", "asking", "Pay");
        terminate("asking");
        waymark.run("resume", "asking", "--thread", "asking-2");
        reset("asking");
        await().atMost(Duration.ofSeconds(60))
                .until(() -> waymark.run("pending", "asking", "--json").json().size() == 1);
        Done there = waymark.run("answer", "asking-2", "Yes", "--json");
        Done here = waymark.run("answer", "asking", "Yes", "--json");

        assertThat(there.json().get("messages").toString()).contains("Paid.");
        assertThat(here.json().get("messages").toString())
                .contains("it was not started, because the parent thread continues as asking-2");
        assertThat(charges("payer")).hasSize(1);
        for (String thread : List.of("asking", "asking-2")) {
            assertThat(waymark.run("verify", thread).exitCode()).as(thread).isZero();
        }
    }

    @Test
    void file_pendingCallOpenOnThisServer_isRefused() throws IOException {
        waymark.run("run", "--agent", "files", "--thread", "files", "Charge");
        Path file = saved("files", "thread");
        Done copy = waymark.run("resume", file.toString(), "--agent", "files", "--thread", "copy");
        terminate("files");
        waymark.run("resume", "files", "--thread", "files-2");
        Done late = waymark.run("resume", file.toString(), "--agent", "files");
        waymark.run("approve", "files-2");

        assertThat(copy)
                .returns(2, Done::exitCode)
                .extracting(Done::err)
                .asString()
                .contains("this call is open in the checkpoint's own thread, which may run it: tu_1 (charge_card)");
        assertThat(late).returns(2, Done::exitCode);
        assertThat(late.err()).contains("already continued in another thread, files-2: files.");
        assertThat(charges("files")).hasSize(1);
    }

    @Test
    void file_olderThanItsClosedThread_isRefusedIfTheCallStarted() throws IOException {
        waymark.run("run", "--agent", "older", "--thread", "older", "Charge");
        Path file = saved("older", "session");
        waymark.run("approve", "older");
        terminate("older");
        Done resumed = waymark.run("resume", file.toString(), "--agent", "older");

        assertThat(resumed.exitCode()).isEqualTo(2);
        assertThat(resumed.err()).contains("this call has progressed in its thread since the checkpoint: tu_1");
        assertThat(charges("older")).hasSize(1);
    }

    @Test
    void file_fromAnotherServer_continuesOnce() throws IOException {
        waymark.run("run", "--agent", "unknown", "--thread", "unknown", "Charge");
        Path file = saved("unknown", "thread");
        String elsewhere = Files.readString(file).replace("\"threadId\" : \"unknown\"", "\"threadId\" : \"afar\"");
        Files.writeString(file, elsewhere);
        Done first = waymark.run("resume", file.toString(), "--agent", "unknown", "--thread", "near");
        Done second = waymark.run("resume", file.toString(), "--agent", "unknown", "--thread", "nearer");
        waymark.run("approve", "near");

        assertThat(elsewhere).contains("afar");
        assertThat(first.exitCode()).isZero();
        assertThat(second).returns(2, Done::exitCode);
        assertThat(second.err()).contains("already continued in another thread, near: afar.");
        assertThat(charges("unknown")).hasSize(1);
    }

    /** When a thread is deleted, its id becomes free and its effects are forgotten. */
    @Test
    void subagent_threadDeletedBeforeAReset_isNotStartedAgain() {
        waymark.run("run", "--agent", "chief", "--thread", "chief", "Delegate");
        String child = "chief/tu_7";
        delete(child);
        resetTo("chief", false);
        Done done = waymark.run("result", "chief", "--json");

        assertThat(done.json().get("messages").toString()).contains("did not complete durably");
        assertThat(waymark.run("calls", "chief", "--json")
                        .json()
                        .get(0)
                        .get("status")
                        .textValue())
                .isEqualTo("lost");
        assertThat(waymark.run("verify", "chief").exitCode()).isZero();
    }

    @Test
    void run_reusedNameOfADeletedThread_hasNewKeys() {
        waymark.run("run", "--agent", "names", "--thread", "again", "Charge");
        JsonNode before = waymark.run("calls", "again", "--json").json().get(0);
        delete("again");
        waymark.run("run", "--agent", "names", "--thread", "again", "Charge");
        JsonNode after = waymark.run("calls", "again", "--json").json().get(0);

        assertThat(after.get("callId")).isEqualTo(before.get("callId"));
        assertThat(after.get("key")).isNotEqualTo(before.get("key"));
    }

    private static void delete(String thread) {
        connection
                .stubs()
                .blockingStub()
                .deleteWorkflowExecution(DeleteWorkflowExecutionRequest.newBuilder()
                        .setNamespace(connection.namespace())
                        .setWorkflowExecution(WorkflowExecution.newBuilder().setWorkflowId(thread))
                        .build());
        await().atMost(Duration.ofSeconds(60))
                .until(() -> waymark.run("show", thread).exitCode() == 3);
    }

    private static Path saved(String thread, String format) throws IOException {
        Done shown = waymark.run("checkpoint", thread, "--format", format);
        return Files.writeString(directory.resolve(thread + "." + format + ".json"), shown.out());
    }

    private static void reset(String thread) {
        resetTo(thread, true);
    }

    /** Resets to the newest workflow task, or to the first one. */
    private static void resetTo(String thread, boolean newest) {
        List<Long> tasks = ThreadReset.completedTasks(connection, thread);
        ThreadReset.to(connection, thread, tasks.get(newest ? tasks.size() - 1 : 0));
    }
}
