package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.waymark.client.AgentClient;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.Approval;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Command.Done;
import dev.waymark.e2e.product.Dev;
import dev.waymark.e2e.product.Watching;
import dev.waymark.saver.CheckpointSaver;
import dev.waymark.saver.SaverTarget;
import dev.waymark.worker.server.InMemoryServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Threads that outlive an in-memory server because a saver stores them. */
@Tag("full")
class RestoreTest {
    @TempDir
    static Path directory;

    private static Dev before;
    private static Dev after;

    @BeforeAll
    static void startTwoServers() throws IOException {
        Path agents = new Agents(Files.createDirectory(directory.resolve("agents")))
                .assistant()
                .greeter()
                .deduping("payer")
                .teller()
                .charger("payee", 1, "")
                .charger("twice", 1, "")
                .charger("decided", 1, "")
                .dawdler("dawdler", ", approval: always")
                .directory();
        before = Dev.inMemory(agents);
        after = Dev.inMemory(agents);
    }

    @AfterAll
    static void stopBoth() {
        if (before != null) {
            before.close();
        }
        if (after != null) {
            after.close();
        }
    }

    private static Command on(Dev server, String target) {
        return Command.warmAt(server.address()).with("WAYMARK_SAVER", target);
    }

    private static String files() {
        return "file:" + directory.resolve("checkpoints");
    }

    @Test
    void run_questionOfAnApprovedTool_isAnsweredOnTheNextServerWithoutRerun() {
        on(before, files()).run("run", "--agent", "teller", "--thread", "wire", "Wire it");
        Done asked = on(before, files()).run("approve", "wire");
        Done askedAgain = on(after, files()).run("run", "--agent", "teller", "--thread", "wire");
        Done answered = on(after, files()).run("answer", "wire", "Savings");

        assertThat(asked).returns(0, Done::exitCode).returns("To which account?\n", Done::out);
        assertThat(askedAgain)
                .returns(0, Done::exitCode)
                .returns("wire waits for an answer, but its question is not known.\n", Done::out);
        assertThat(answered).returns(0, Done::exitCode).returns("Wired: Savings\n", Done::out);
        assertThat(directory.resolve("agents/teller.ledger")).content().isEqualTo("{\"cents\":500}\n");
    }

    @Test
    void run_openQuestion_isAskedAndAnsweredOnTheNextServer() {
        Done asked = on(before, files()).run("run", "--agent", "assistant", "--thread", "trip", "Book it");
        Done early = on(after, files()).run("show", "trip");
        Done askedAgain = on(after, files()).run("run", "--agent", "assistant", "--thread", "trip");
        Done answered = on(after, files()).run("answer", "trip", "Friday");

        assertThat(asked).returns(0, Done::exitCode).returns("Which day?\n", Done::out);
        assertThat(early)
                .returns(3, Done::exitCode)
                .returns(
                        "waymark: the server does not know the thread, but the saver has it: trip."
                                + " Restore it with: waymark run --thread trip\n",
                        Done::err);
        assertThat(askedAgain).returns(0, Done::exitCode).returns("Which day?\n", Done::out);
        assertThat(askedAgain.err()).startsWith("checkpoint-loaded: trip at step 1, messages: 2\n");
        assertThat(answered).returns("Booked.\n", Done::out);
        assertThat(on(after, files()).run("show", "trip", "--json").json().get("messages"))
                .hasSize(4);
        try (Watching watching = Watching.start(after.address(), "trip")) {
            Awaitility.await()
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> watching.lines("checkpoint-saved").size() == 2);
            assertThat(watching.lines("checkpoint-loaded")).singleElement().satisfies(loaded -> {
                assertThat(loaded.get("threadId").textValue()).isEqualTo("trip");
                assertThat(loaded.get("step").intValue()).isEqualTo(1);
                assertThat(loaded.get("messagesCount").intValue()).isEqualTo(2);
                assertThat(loaded.get("eventId").intValue()).isEqualTo(1);
            });
        }
    }

    @Test
    void answer_onTheNextServer_restoresTheThread() {
        on(before, files()).run("run", "--agent", "assistant", "--thread", "journey", "Book it");
        Done answered = on(after, files()).run("answer", "journey", "Friday");
        Done unknown = on(after, files()).run("answer", "nobody", "Friday");
        Done said = on(after, files()).run("say", "journey", "Thanks");

        assertThat(answered).returns(0, Done::exitCode).returns("Booked.\n", Done::out);
        assertThat(answered.err()).startsWith("checkpoint-loaded: journey at step 1, messages: 2\n");
        assertThat(unknown).returns(3, Done::exitCode);
        assertThat(unknown.err()).startsWith("waymark: no such thread: nobody.");
        assertThat(said)
                .returns(0, Done::exitCode)
                .returns("Booked.\n", Done::out)
                .returns("", Done::err);
    }

    @Test
    void approve_onTheNextServer_runsTheCallOnce() {
        on(before, files()).run("run", "--agent", "payee", "--thread", "bill", "Pay it");
        Done late = on(after, files()).run("deny", "bill", "--call", "tu_9");
        Done approved = on(after, files()).run("approve", "bill", "--by", "ann");
        Done again = on(after, files()).run("approve", "bill");

        assertThat(late).returns(3, Done::exitCode);
        assertThat(late.err()).contains("checkpoint-loaded: bill at step 1", "tu_9");
        assertThat(approved).returns(0, Done::exitCode).returns("Charged.\n", Done::out);
        assertThat(again).returns(3, Done::exitCode);
        assertThat(directory.resolve("agents/payee.ledger")).content().isEqualTo("{\"cents\":500}\n");
    }

    /**
     * As if the first server were lost while an approved call runs: the saver has stored only that the call had
     * started.
     */
    @Test
    void run_approvedCallThatWasRunning_isUnknownOnTheNextServer() throws IOException {
        String target = "file:" + directory.resolve("running");
        on(before, target).run("run", "--agent", "dawdler", "--thread", "running", "Pay it");
        Done approved = on(before, target).run("approve", "running", "--timeout", "8s");
        Done restored = on(after, target).run("run", "--thread", "running");
        Done again = on(after, target).run("approve", "running");

        assertThat(approved).returns(6, Done::exitCode);
        assertThat(restored).returns(0, Done::exitCode).returns("So be it.\n", Done::out);
        assertThat(again).returns(3, Done::exitCode);
        assertThat(directory.resolve("agents/dawdler.ledger")).content().isEqualTo("{\"cents\":500}\n");
        assertThat(on(after, target).run("show", "running").out()).contains("did not complete durably");
    }

    @Test
    void readOnlyCommands_sayHowToRestoreAThread() {
        String target = "file:" + directory.resolve("looked-at");
        on(before, target).run("run", "--agent", "assistant", "--thread", "looked-at", "Book it");
        Command waymark = on(after, target);

        for (String command : List.of(
                "show",
                "watch",
                "pending",
                "calls",
                "files",
                "checkpoint",
                "checkpoints",
                "verify",
                "result",
                "stop",
                "clear",
                "close",
                "cancel",
                "resume")) {
            assertThat(waymark.run(command, "looked-at"))
                    .as(command)
                    .isEqualTo(new Done(
                            3,
                            "",
                            "waymark: the server does not know the thread, but the saver has it: looked-at."
                                    + " Restore it with: waymark run --thread looked-at\n"));
        }
        for (String command : List.of("sessions", "pending")) {
            assertThat(waymark.run(command).err())
                    .as(command)
                    .contains("This server does not know 1 saved thread: looked-at. Restore one with: waymark run"
                            + " --thread looked-at, or all: waymark resume --from \"$WAYMARK_SAVER\" --all\n");
        }
    }

    @Test
    void resumeAll_restoresMissingThreadsAndReportsFailures() throws IOException {
        Path place = directory.resolve("all");
        String target = "file:" + place;
        for (String thread : List.of("all-1", "all-3")) {
            on(before, target).run("run", "--agent", "assistant", "--thread", thread, "Book it");
        }
        Files.writeString(place.resolve("all-2.json"), "{}");

        Done restored = on(after, target).run("resume", "--from", target, "--all");
        Done answered = on(after, target).run("answer", "all-3", "Friday");
        Files.delete(place.resolve("all-2.json"));
        Done again = on(after, target).run("resume", "--from", target, "--all", "--json");

        assertThat(restored)
                .returns(2, Done::exitCode)
                .returns("1 of 3: all-1 at step 1, messages: 2\n3 of 3: all-3 at step 1, messages: 2\n", Done::out);
        assertThat(restored.err().lines())
                .hasSize(2)
                .first()
                .asString()
                .startsWith("2 of 3: waymark: the saved checkpoint can't be read: ");
        assertThat(restored.err()).endsWith("Restored 2 of 3 threads that this server did not know.\n");
        assertThat(answered).returns(0, Done::exitCode).returns("Booked.\n", Done::out);
        assertThat(again).isEqualTo(new Done(0, "", "This server knows all saved threads.\n"));
    }

    @Test
    void resumeAll_withOptionsForOneThread_isRefused() {
        assertThat(on(after, files()).run("resume", "--all").err())
                .startsWith("waymark: --all requires --from TARGET.");
        assertThat(on(after, files()).run("resume", "--from", files(), "--all", "--answer", "Friday"))
                .returns(2, Done::exitCode)
                .extracting(Done::err)
                .asString()
                .startsWith("waymark: --all can't be combined with --answer.");
        assertThat(on(after, files())
                        .run("resume", "trip", "--from", files(), "--all")
                        .err())
                .startsWith("waymark: resume needs either FILE, - or THREAD, or --from TARGET --all.");
    }

    @Test
    void dev_secondInTheSameDirectory_warns() throws IOException {
        Path agents = new Agents(Files.createDirectory(directory.resolve("shared")))
                .assistant()
                .directory();
        String told = "another server saves its threads to .waymark/threads";

        try (Dev first = Dev.inMemoryAndKept(agents)) {
            assertThat(agents.resolve("dev.log")).content().doesNotContain(told);
            try (Dev second = Dev.inMemoryAndKept(agents)) {
                assertThat(second.address()).isNotEqualTo(first.address());
                assertThat(agents.resolve("dev.log"))
                        .content()
                        .contains(told + ", so each can take over threads of the other: " + first.address() + ".");
            }
        }
        Files.delete(agents.resolve("dev.log"));
        try (Dev alone = Dev.inMemoryAndKept(agents)) {
            assertThat(alone.address()).isNotEmpty();
            assertThat(agents.resolve("dev.log")).content().doesNotContain(told);
        }
    }

    @Test
    void answer_agentMissingOnWorker_changesNothingAndSaysWhatToType() throws IOException {
        Path place = directory.resolve("agentless-answer");
        String target = "file:" + place;
        on(before, target).run("run", "--agent", "assistant", "--thread", "unnamed", "Book it");
        Files.delete(place.resolve("unnamed.owner"));
        String saved = Files.readString(place.resolve("unnamed.json"));
        Done refused = on(after, target).run("answer", "unnamed", "Friday");
        Done refusedAgain = on(after, target).run("answer", "unnamed", "Friday");

        assertThat(refused).returns(2, Done::exitCode);
        assertThat(refused.err()).contains("waymark run --agent A --thread unnamed");
        assertThat(refusedAgain).isEqualTo(refused);
        assertThat(place.resolve("unnamed.json")).content().isEqualTo(saved);
    }

    @Test
    void run_restoredConversation_keepsItsCallsAndKeys() throws Exception {
        String database = "jdbc:sqlite:" + directory.resolve("sessions.db");
        on(before, database).run("run", "--agent", "payer", "--thread", "rent", "Pay");
        JsonNode calls = on(before, database).run("calls", "rent", "--json").json();
        JsonNode restored = on(after, database)
                .run("run", "--agent", "payer", "--thread", "rent", "Again", "--json")
                .json();

        JsonNode callsAfter = on(after, database).run("calls", "rent", "--json").json();
        assertThat(restored.get("messages")).hasSize(6);
        assertThat(callsAfter).hasSize(1);
        for (String field : new String[] {"callId", "tool", "args", "key", "status"}) {
            assertThat(callsAfter.get(0).get(field))
                    .as(field)
                    .isEqualTo(calls.get(0).get(field));
        }
        assertThat(directory.resolve("agents/payer.ledger")).content().isEqualTo("{\"cents\":500}\n");
        assertThat(count(database, "SELECT COUNT(*) FROM checkpoints WHERE session_id = 'rent'"))
                .isGreaterThanOrEqualTo(2);
        assertThat(count(
                        database,
                        "SELECT COUNT(*) FROM tool_calls WHERE status = 'completed' AND idempotency_key = '"
                                + calls.get(0).get("key").textValue() + "'"))
                .isEqualTo(1);
    }

    @Test
    void thread_lastStep_isSavedBeforeTheOutcomeIsReported() throws IOException {
        on(before, files()).run("run", "--agent", "greeter", "--thread", "once", "Hi");

        JsonNode shown = Command.warmAt(before.address())
                .run("checkpoint", "once", "--format", "thread", "--json")
                .json();
        assertThat(new JsonMapper()
                        .readTree(directory.resolve("checkpoints/once.json").toFile()))
                .isEqualTo(shown);
        try (Watching watching = Watching.start(before.address(), "once")) {
            on(before, files()).run("say", "once", "Bye");
            Awaitility.await()
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> watching.lines("checkpoint-saved").size() >= 2);
            assertThat(watching.lines("checkpoint-saved").stream()
                            .map(line -> line.get("step").intValue()))
                    .containsExactly(1, 2);
        }
    }

    @Test
    void say_failingSaver_printsTheOutcomeAndTheFailure() throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "mine");
        Command.warmAt(before.address()).run("run", "--agent", "greeter", "--thread", "unsaved", "--volatile", "Hi");
        Done done = on(before, "file:" + file).run("say", "unsaved", "Hi again", "--json");

        assertThat(done.exitCode()).isEqualTo(7);
        assertThat(done.json().get("text").textValue()).isEqualTo("Hello.");
        assertThat(done.err().lines())
                .hasSize(2)
                .anyMatch(
                        line -> line.startsWith("waymark: the newest checkpoint was not saved within 10 s: unsaved."));
    }

    @Test
    void run_unreadableSaver_startsNothing() throws IOException {
        Path file = Files.writeString(directory.resolve("another-file"), "mine");
        Done done = on(before, "file:" + file).run("run", "--agent", "greeter", "--thread", "unknown", "Hi", "--json");

        assertThat(done.exitCode()).isEqualTo(7);
        assertThat(done.json().get("error").get("type").textValue()).isEqualTo("SaverFailed");
        assertThat(Command.warmAt(before.address()).run("show", "unknown")).returns(3, Done::exitCode);
    }

    @Test
    void save_unresponsiveSaver_timesOutWithAMessage() throws IOException {
        // Accepts connections but never answers.
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            String target = "jdbc:postgresql://127.0.0.1:" + silent.getLocalPort() + "/none";
            Done run = on(before, target).run("run", "--agent", "greeter", "--thread", "silent", "Hi");
            Done chat = on(before, target).runTyping("", "chat", "--agent", "greeter", "--session", "silent");

            assertThat(List.of(run, chat))
                    .allSatisfy(done -> assertThat(done)
                            .returns(7, Done::exitCode)
                            .extracting(Done::err)
                            .asString()
                            .startsWith("waymark: the saver did not answer within 10 s: "));
            // Slow commands may print progress before this message.
            assertThat(on(before, target).run("sessions", "--json"))
                    .returns(0, Done::exitCode)
                    .extracting(Done::err)
                    .asString()
                    .contains("waymark: the saver did not answer within 10 s: listing.");
        }
    }

    @Test
    void run_withoutLastingSaver_isRefused() {
        Command waymark = Command.warmAt(before.address());

        assertThat(waymark.run("run", "--agent", "greeter", "--thread", "lost", "Hi"))
                .returns(2, Done::exitCode)
                .extracting(Done::err)
                .asString()
                .contains("--saver file:DIR");
        assertThat(waymark.run("run", "--agent", "greeter", "--thread", "lost", "--saver", "memory:", "Hi"))
                .returns(2, Done::exitCode)
                .extracting(Done::err)
                .asString()
                .startsWith("waymark: the saver would be lost when this command ends: memory:.");
    }

    @Test
    void run_withoutAgent_usesTheSavedAgent() {
        on(before, files()).run("run", "--agent", "assistant", "--thread", "kept", "Book it");
        Done askedAgain = on(after, files()).run("run", "--thread", "kept");
        Done answered = on(after, files()).run("answer", "kept", "Friday");

        assertThat(askedAgain).returns(0, Done::exitCode).returns("Which day?\n", Done::out);
        assertThat(answered).returns(0, Done::exitCode).returns("Booked.\n", Done::out);
    }

    @Test
    void run_agentMissingOnWorker_restoresAndWritesNothing() throws IOException {
        Path place = directory.resolve("no-agent");
        String target = "file:" + place;
        on(before, target).run("run", "--agent", "assistant", "--thread", "agentless", "Book it");
        Files.delete(place.resolve("agentless.owner"));
        String saved = Files.readString(place.resolve("agentless.json"));
        Done unnamed = on(after, target).run("run", "--thread", "agentless", "--json");
        Done unknown = on(after, target).run("run", "--thread", "agentless", "--agent", "nobody", "--json");

        assertThat(unnamed.exitCode()).isEqualTo(2);
        assertThat(unnamed.json().get("error").get("type").textValue()).isEqualTo("AgentInvalid");
        assertThat(unnamed.err()).contains("Name its agent with --agent");
        assertThat(unknown.exitCode()).isEqualTo(3);
        assertThat(place.resolve("agentless.json")).content().isEqualTo(saved);
        Done chat = on(after, target).runTyping("Hello\n", "chat", "--session", "agentless", "--agent", "nobody");
        assertThat(chat.exitCode()).isEqualTo(3);
        assertThat(chat.err()).contains("Nothing was changed. Name its agent with --agent");
        try (Stream<Path> entries = Files.list(place)) {
            assertThat(entries.map(entry -> entry.getFileName().toString()))
                    .filteredOn(name -> name.endsWith(".json"))
                    .containsExactly("agentless.json");
        }
        assertThat(place.resolve("agentless.owner")).doesNotExist();
        assertThat(on(after, target).run("run", "--thread", "agentless", "--agent", "assistant"))
                .returns(0, Done::exitCode)
                .returns("Which day?\n", Done::out);
    }

    /** It is not known whether a worker that starts later has the agent, and such a worker would run the open calls. */
    @Test
    void run_serverWithoutWorker_takesTheEntryOverReversibly() throws Exception {
        Path place = directory.resolve("no-worker");
        String target = "file:" + place;
        on(before, target).run("run", "--agent", "assistant", "--thread", "alone", "Book it");
        String saved = Files.readString(place.resolve("alone.json"));
        try (InMemoryServer lonely = InMemoryServer.start(0)) {
            Done restored = Command.warmAt(lonely.address())
                    .with("WAYMARK_SAVER", target)
                    .run("run", "--thread", "alone", "Hello");

            assertThat(restored.exitCode()).isEqualTo(6);
        }

        assertThat(place.resolve("alone.json")).content().isEqualTo(saved);
        assertThat(on(before, target).run("answer", "alone", "Friday").err())
                .contains("the thread was restored on another server (epoch 2): alone.");
        assertThat(on(before, target).run("save", "alone", "--to", target, "--replace"))
                .returns(0, Done::exitCode);
        assertThat(on(before, target).run("answer", "alone", "Friday"))
                .returns(0, Done::exitCode)
                .returns("Booked.\n", Done::out);
    }

    @Test
    void message_onTheServerBeforeARestore_isRefused() throws IOException {
        Path place = directory.resolve("epochs");
        String target = "file:" + place;
        on(before, target).run("run", "--agent", "assistant", "--thread", "epochs", "Book it");
        on(after, target).run("run", "--thread", "epochs");
        Done late = on(before, target).run("answer", "epochs", "Monday");
        Done again = on(before, target).run("run", "--thread", "epochs", "Book it", "--no-wait");
        Done successor = on(after, target).run("answer", "epochs", "Friday");

        assertThat(List.of(late, again))
                .containsOnly(new Done(
                        2,
                        "",
                        "waymark: the thread was restored on another server (epoch 2): epochs. Continue it there, and"
                                + " stop it here\n"));
        assertThat(successor).returns(0, Done::exitCode).returns("Booked.\n", Done::out);
        assertThat(place.resolve("epochs.json")).content().contains("Friday").doesNotContain("Monday");
    }

    /** A client without the saver cannot know that another server has restored the thread. */
    @Test
    void answer_onTheServerBeforeARestore_doesNotOverwriteTheSuccessor() throws IOException {
        Path place = directory.resolve("unaware");
        String target = "file:" + place;
        on(before, target).run("run", "--agent", "assistant", "--thread", "unaware", "Book it");
        on(after, target).run("run", "--thread", "unaware");
        String restored = Files.readString(place.resolve("unaware.json"));
        Done late = Command.warmAt(before.address()).run("answer", "unaware", "Monday");
        Done saved = Command.warmAt(before.address()).run("save", "unaware", "--to", target);

        assertThat(late).returns(0, Done::exitCode).returns("Booked.\n", Done::out);
        assertThat(saved).returns(7, Done::exitCode);
        assertThat(saved.err())
                .contains("belongs to another thread with this name, which took it over (epoch 2): unaware.");
        assertThat(place.resolve("unaware.json")).hasContent(restored);
    }

    /** Both threads contain the waiting call, with the same idempotency key. */
    @Test
    void approve_onBothServersOfARestoredThread_chargesOnce() throws IOException {
        String target = "file:" + directory.resolve("twice");
        on(before, target).run("run", "--agent", "twice", "--thread", "twice", "Pay it");
        on(after, target).run("run", "--thread", "twice");
        Done late = on(before, target).run("approve", "twice");
        Done successor = on(after, target).run("approve", "twice");

        assertThat(late).returns(2, Done::exitCode);
        assertThat(late.err()).contains("the thread was restored on another server (epoch 2): twice.");
        assertThat(successor).returns(0, Done::exitCode).returns("Charged.\n", Done::out);
        assertThat(directory.resolve("agents/twice.ledger")).content().isEqualTo("{\"cents\":500}\n");
    }

    @Test
    void callback_threadRestoredElsewhereMeanwhile_approvesNothing() throws IOException {
        String target = "file:" + directory.resolve("callback");
        on(before, target).run("run", "--agent", "decided", "--thread", "callback", "Pay it");
        try (CheckpointSaver saver = SaverTarget.parse(target).open();
                AgentClient client = AgentClient.connect(before.address())) {
            AgentClient deciding = client.savingIn(SaveOptions.in(saver)).onApproval(request -> {
                on(after, target).run("run", "--thread", "callback");
                return Optional.of(Approval.approve());
            });

            assertThatThrownBy(() -> deciding.turn("callback").await())
                    .isInstanceOf(WaymarkException.Refused.class)
                    .hasMessageStartingWith("the thread was restored on another server (epoch 2): callback");
        }
        Done successor = on(after, target).run("approve", "callback");

        assertThat(successor).returns(0, Done::exitCode).returns("Charged.\n", Done::out);
        assertThat(directory.resolve("agents/decided.ledger")).content().isEqualTo("{\"cents\":500}\n");
    }

    @Test
    void run_withoutWaiting_isSavedBeforeItReturns() {
        String target = "file:" + directory.resolve("unwatched");
        Done started =
                on(before, target).run("run", "--agent", "assistant", "--thread", "unwatched", "--no-wait", "Book it");

        assertThat(started).returns(0, Done::exitCode).returns("running: unwatched\n", Done::out);
        assertThat(started.err()).contains("waymark save unwatched --to " + target + " --follow");
        assertThat(directory.resolve("unwatched/unwatched.json")).content().contains("Book it");
    }

    @Test
    void save_overAnotherThreadsCheckpoint_isRefusedWithoutReplace() throws IOException {
        Path place = directory.resolve("richer");
        String target = "file:" + place;
        on(before, target).run("run", "--agent", "assistant", "--thread", "richer", "Book it");
        Command.warmAt(after.address()).run("run", "--agent", "greeter", "--thread", "richer", "--volatile", "Hi");
        String saved = Files.readString(place.resolve("richer.json"));
        Done refused = Command.warmAt(after.address()).run("save", "richer", "--to", target);

        assertThat(refused.exitCode()).isEqualTo(7);
        assertThat(refused.err()).contains("belongs to another thread with this name: richer.", "--replace");
        assertThat(place.resolve("richer.json")).content().isEqualTo(saved);
        assertThat(Command.warmAt(after.address()).run("save", "richer", "--to", target, "--replace"))
                .returns(0, Done::exitCode);
        assertThat(place.resolve("richer.json")).content().contains("Hello.");
    }

    @Test
    void run_corruptEntry_isRefusedAndNotOverwritten() throws IOException {
        Path place = Files.createDirectories(directory.resolve("corrupt")).resolve("torn.json");
        Files.writeString(place, "{\"threadId\":\"torn\",");
        Done done = on(before, "file:" + place.getParent())
                .run("run", "--agent", "greeter", "--thread", "torn", "Hi", "--json");

        assertThat(done.exitCode()).isEqualTo(2);
        assertThat(done.json().get("error").get("type").textValue()).isEqualTo("CheckpointCorruption");
        assertThat(place).content().isEqualTo("{\"threadId\":\"torn\",");
        assertThat(Command.warmAt(before.address()).run("show", "torn")).returns(3, Done::exitCode);
    }

    private static int count(String database, String sql) throws Exception {
        try (Connection connection = DriverManager.getConnection(database);
                ResultSet rows = connection.createStatement().executeQuery(sql)) {
            rows.next();
            return rows.getInt(1);
        }
    }
}
