package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.CheckpointReview;
import dev.waymark.client.request.Approval;
import dev.waymark.client.request.ApprovalRequest;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.conversation.decision.FileCalls;
import dev.waymark.conversation.value.IdempotencyKey;
import dev.waymark.conversation.value.Json;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Command.Done;
import dev.waymark.e2e.product.Dev;
import dev.waymark.e2e.product.Terminal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads that are exported from one server as files, and continue on another server that does not know them. */
@Tag("full")
class FormatsTest {
    @TempDir
    static Path directory;

    private static Dev here;
    private static Dev elsewhere;

    @BeforeAll
    static void startTwoServers() throws IOException {
        Path agents = new Agents(Files.createDirectory(directory.resolve("agents")))
                .assistant()
                .greeter()
                .charger("charger", 1, "")
                .payer("payer")
                .payer("kiosk")
                .payer("till")
                .directory();
        here = Dev.inMemory(agents);
        elsewhere = Dev.inMemory(agents);
        here().run("run", "--agent", "assistant", "--thread", "trip", "--volatile", "Book it");
    }

    @AfterAll
    static void stopBoth() {
        if (here != null) {
            here.close();
        }
        if (elsewhere != null) {
            elsewhere.close();
        }
    }

    private static Command here() {
        return Command.warmAt(here.address());
    }

    private static Command elsewhere() {
        return Command.warmAt(elsewhere.address());
    }

    private static String checkpoint(String format) throws IOException {
        return Files.writeString(
                        directory.resolve(format + ".json"),
                        here().run("checkpoint", "trip", "--format", format).out())
                .toString();
    }

    @ParameterizedTest
    @ValueSource(strings = {"runner", "thread", "phases", "messages", "session", "versions"})
    void openQuestion_ofAnyFormat_isAnsweredElsewhere(String format) throws IOException {
        String file = checkpoint(format);
        String[] resume = {
            "resume", file, "--agent", "assistant", "--answer", "Friday", "--thread", "trip-" + format, "--volatile"
        };

        assertThat(elsewhere().run(resume)).isEqualTo(new Done(0, "Booked.\n", ""));
        assertThat(elsewhere().run("verify", "trip-" + format).exitCode()).isZero();
        assertThat(elsewhere()
                        .run("checkpoint", "trip-" + format, "--json")
                        .json()
                        .get("messages")
                        .toString())
                .contains("Book it", "Which day?", "Friday", "Booked.");
    }

    @Test
    void sameCheckpointAndAnswer_fromTwoProcesses_startsOneRun() throws IOException {
        String[] resume = {"resume", checkpoint("runner"), "--agent", "assistant", "--answer", "Sunday", "--json"};
        CompletableFuture<Done> other =
                CompletableFuture.supplyAsync(() -> elsewhere().run(resume));

        JsonNode one = elsewhere().run(resume).json();

        assertThat(one.get("text").textValue()).isEqualTo("Booked.");
        assertThat(other.join().json()).isEqualTo(one);
    }

    @Test
    void noAgent_severalAvailable_isRefusedAndLeavesTheIdFree() throws IOException {
        String file = checkpoint("runner");
        Done refused =
                elsewhere().run("resume", file, "--answer", "Friday", "--thread", "free", "--volatile", "--json");

        assertThat(refused.exitCode()).isEqualTo(2);
        assertThat(refused.err())
                .isEqualTo(
                        "waymark: no agent is named, and the worker does not have exactly one: assistant, charger, greeter, kiosk, payer, till."
                                + " Name one with --agent\n");
        assertThat(names(refused.json())).containsExactly("error");
        assertThat(refused.json().at("/error/type").textValue()).isEqualTo("AgentInvalid");
        assertThat(elsewhere()
                        .run(
                                "resume",
                                file,
                                "--answer",
                                "Friday",
                                "--thread",
                                "free",
                                "--volatile",
                                "--agent",
                                "assistant"))
                .isEqualTo(new Done(0, "Booked.\n", ""));
    }

    @Test
    void noAgent_severalAvailable_listsNoThread() throws IOException {
        Command waymark = elsewhere();
        waymark.run("resume", checkpoint("runner"), "--thread", "nobodys", "--volatile");

        Done sessions = waymark.run("sessions", "--json");
        Done again = waymark.run("resume", "nobodys");

        assertThat(sessions.exitCode()).isZero();
        assertThat(sessions.out()).doesNotContain("nobodys");
        assertThat(again).returns(2, Done::exitCode);
        assertThat(again.err()).hasLineCount(1).endsWith(". Name one with --agent\n");
        assertThat(waymark.run("resume", "nobodys", "--agent", "assistant").out())
                .isEqualTo("Which day?\n");
    }

    /** The question in the file is printed only if the agent exists; otherwise no thread asks it. */
    @Test
    void unknownAgent_withOpenQuestion_isRefused() throws IOException {
        String file = checkpoint("runner");

        assertThat(elsewhere().run("resume", file, "--agent", "nobody").exitCode())
                .isEqualTo(3);
        assertThat(elsewhere().run("resume", file).exitCode()).isEqualTo(2);
        assertThat(elsewhere().run("resume", file, "--agent", "assistant").out())
                .isEqualTo("Which day?\n");
    }

    @Test
    void callWaitingForApproval_asksAgainAndRefusesAnAnswer() throws IOException {
        here().run("run", "--agent", "charger", "--thread", "bill", "--volatile", "Pay");
        String file = Files.writeString(
                        directory.resolve("bill.json"),
                        here().run("checkpoint", "bill").out())
                .toString();
        String[] answer = {"resume", file, "--agent", "charger", "--answer", "yes", "--json"};
        String[] resume = {"resume", file, "--agent", "charger", "--thread", "bill", "--volatile"};

        Done answered = elsewhere().run(answer);
        Done asked = elsewhere().run(resume);

        assertThat(answered.exitCode()).isEqualTo(3);
        assertThat(answered.err()).contains("this call waits for a decision: tu_1");
        assertThat(asked.out()).isEqualTo("May charge_card {\"cents\": 500} run?\n");
        assertThat(elsewhere().run("approve", "bill").out()).isEqualTo("Charged.\n");
        assertThat(directory.resolve("agents/charger.ledger")).content().isEqualTo("{\"cents\":500}\n");
    }

    @Test
    void unknownAgent_leavesTheThreadIdFree() {
        String[] wrong = {"run", "--agent", "nobody", "--thread", "typo", "--volatile", "Hi"};
        String[] right = {"run", "--agent", "greeter", "--thread", "typo", "--volatile", "Hi"};

        assertThat(here().run(wrong).exitCode()).isEqualTo(3);
        assertThat(here().run(right)).isEqualTo(new Done(0, "Hello.\n", ""));
        assertThat(here().run(right)).isEqualTo(new Done(0, "Hello.\n", ""));
    }

    @Test
    void chosenThreadId_isNotTakenOverByAnotherAgent() {
        String[] first = {"run", "--agent", "greeter", "--thread", "chosen", "--volatile", "Hi"};

        assertThat(here().run(first)).isEqualTo(new Done(0, "Hello.\n", ""));
        Done other = here().run("run", "--agent", "assistant", "--thread", "chosen", "--volatile", "Hi", "--json");
        assertThat(other.exitCode()).isEqualTo(2);
        assertThat(contents(here().run("show", "chosen", "--json"))).containsExactly("Hi", "Hello.");
    }

    /** A snapshot, perhaps written by hand, with a reply whose call was never started. */
    private static Path snapshot(String name, String tool) throws IOException {
        return Files.writeString(directory.resolve(name + ".json"), """
                {"schema_version":"v1","run_id":"r-%s","thread_id":"t-%s","step":1,"phase":"runtime_state",
                 "timestamp_ms":1790000000123,"payload":{"state":"running","step":1,"llm_calls":1,"tool_calls":0,
                 "started_at_s":1790000000,"usage":{"input_tokens":1,"output_tokens":1},
                 "messages":[{"role":"user","content":"Pay"}],"tool_executions":[],"pending_llm_response":
                 {"text":"","tool_calls":[{"id":"tu_1","tool_name":"%s","arguments":{"cents":5}}]}}}
                """.formatted(name, name, tool));
    }

    @Test
    void importedPendingCall_inAScript_waitsUnlessAllowed() throws IOException {
        Path ledger = directory.resolve("agents/payer.ledger");
        String file = snapshot("waiting", "charge_card").toString();
        Done waiting = elsewhere().run("resume", file, "--agent", "payer", "--thread", "waiting", "--volatile");

        assertThat(waiting.exitCode()).isZero();
        assertThat(waiting.out()).isEqualTo("May charge_card {\"cents\": 5} run?\n");
        assertThat(waiting.err())
                .contains(
                        "The checkpoint asks for these calls, which were never started:\n  tu_1  charge_card"
                                + " {\"cents\": 5}\n",
                        "add --run-pending",
                        "This call is from a file.\n");
        assertThat(ledger).doesNotExist();
        JsonNode pending =
                elsewhere().run("pending", "waiting", "--json").json().get(0);
        assertThat(pending.get("fromFile").booleanValue()).isTrue();
        assertThat(elsewhere()
                        .run("calls", "waiting", "--json")
                        .json()
                        .get(0)
                        .get("fromFile")
                        .booleanValue())
                .isTrue();
        assertThat(elsewhere().run("approve", "waiting").out()).isEqualTo("Paid.\n");
        assertThat(ledger).content().isEqualTo("{\"cents\":5}\n");
        assertThat(elsewhere().run("verify", "waiting").exitCode()).isZero();

        String other = snapshot("running", "charge_card").toString();
        assertThat(elsewhere()
                        .run("resume", other, "--agent", "payer", "--thread", "ran", "--volatile", "--run-pending")
                        .out())
                .isEqualTo("Paid.\n");
        assertThat(ledger).content().hasLineCount(2);
    }

    @Test
    void importedPendingCall_atATerminal_runsOnlyIfConfirmed() throws Exception {
        Path ledger = directory.resolve("agents/kiosk.ledger");

        assertThat(resumedAtATerminal("no", "n")).contains("May charge_card {\"cents\": 5} run?");
        assertThat(resumedAtATerminal("enter", "")).contains("May charge_card {\"cents\": 5} run?");
        assertThat(ledger).doesNotExist();

        assertThat(resumedAtATerminal("yes", "y")).contains("Paid.").doesNotContain("May charge_card");
        assertThat(ledger).content().isEqualTo("{\"cents\":5}\n");
    }

    /** Resumes a file, and types this answer when its calls are listed. Returns what the screen shows after that. */
    private static String resumedAtATerminal(String name, String answer) throws Exception {
        String file = snapshot("typed-" + name, "charge_card").toString();
        String[] resume = {"resume", file, "--agent", "kiosk", "--thread", "typed-" + name, "--volatile"};
        try (Terminal terminal = Terminal.start(elsewhere.address(), resume)) {
            await().atMost(Duration.ofSeconds(60)).until(() -> terminal.screen().contains("Run all of them?"));
            String before = terminal.screen();
            assertThat(before)
                    .contains("The checkpoint asks for these calls, which were never started:")
                    .contains("tu_1  charge_card {\"cents\": 5}");
            terminal.type(answer + "\n");
            assertThat(terminal.exitCode()).as(terminal.screen()).isZero();
            return terminal.screen().substring(before.length());
        }
    }

    @Test
    void importedPendingCall_inJava_waitsUnlessAllowed() throws IOException {
        Path ledger = directory.resolve("agents/till.ledger");
        ResumeOptions how = ResumeOptions.onward().withAgent("till").allowingVolatile();
        try (AgentClient client = AgentClient.connect(elsewhere.address())) {
            byte[] file = Files.readAllBytes(snapshot("java-waits", "charge_card"));
            assertThat(client.inspector().review(file, how).notStarted())
                    .extracting(CheckpointReview.FileCall::callId)
                    .containsExactly("tu_1");
            assertThat(client.resume(file, how).await()).isInstanceOf(AgentResult.Interrupted.class);

            List<ApprovalRequest> asked = new ArrayList<>();
            AgentClient denying = client.onApproval(request -> {
                asked.add(request);
                return Optional.of(Approval.deny("Nobody knows this file."));
            });
            byte[] denied = Files.readAllBytes(snapshot("java-denied", "charge_card"));
            assertThat(denying.resume(denied, how).await()).isInstanceOf(AgentResult.Complete.class);
            assertThat(asked).singleElement().returns(true, ApprovalRequest::fromFile);
            assertThat(ledger).doesNotExist();

            byte[] allowed = Files.readAllBytes(snapshot("java-runs", "charge_card"));
            assertThat(client.resume(allowed, how.withFileCalls(FileCalls.CONTINUE))
                            .await())
                    .isInstanceOf(AgentResult.Complete.class);
            assertThat(ledger).content().isEqualTo("{\"cents\":5}\n");
        }
    }

    @Test
    void importedSafeCall_runsAtOnce() throws IOException {
        String file = snapshot("safe", "look").toString();

        assertThat(elsewhere()
                        .run("resume", file, "--agent", "payer", "--thread", "safe", "--volatile")
                        .out())
                .isEqualTo("Paid.\n");
    }

    @Test
    void callsWithUnknownOutcome_areListedBeforeAnythingRuns() throws IOException {
        String at = "2026-05-01T09:00:00.000000+00:00";
        String row = """
                {"session_id":"s","call_id":"%s","tool_name":"charge_card","args_json":"{\\"cents\\": %d}",
                 "idempotency_key":"%s","status":"issued","result_text":null,"started_at":"%s","completed_at":null}
                """;
        Path file = Files.writeString(
                directory.resolve("crashed.json"), """
                {"session":{"session_id":"s","created_at":"AT","updated_at":"AT","status":"active"},
                 "checkpoint":{"version":1,"created_at":"AT","plan":null,"budget_spent_usd":0.0,"transcript":[
                 {"id":"m1","role":"user","created_at":"AT","blocks":[{"kind":"text","text":"Pay"}]},
                 {"id":"m2","role":"assistant","created_at":"AT","blocks":[
                  {"kind":"tool_call","id":"c1","name":"charge_card","args":{"cents":1}}]}]},
                 "tool_calls":[ROW1,ROW2]}
                """.replace("ROW1", row.formatted("c1", 1, key(1), at))
                        .replace("ROW2", row.formatted("c9", 9, key(9), at))
                        .replace("AT", at));

        Done resumed =
                elsewhere().run("resume", file.toString(), "--agent", "payer", "--thread", "crashed", "--volatile");

        assertThat(resumed.out()).isEqualTo("Paid.\n");
        assertThat(resumed.err())
                .contains("outcome is unknown:\n  c1  charge_card {\"cents\": 1}\n")
                .contains("Their outcome is unknown:\n  c9  charge_card {\"cents\": 9}\n");
        assertThat(elsewhere().run("pending", "crashed").err()).contains("c9  charge_card {\"cents\": 9}");
    }

    private static String key(int cents) {
        return IdempotencyKey.of("s", "charge_card", Json.of(Map.of("cents", cents)), 0);
    }

    /** Uses a C1 control, which begins terminal sequences, and a mark that reorders the line. */
    @Test
    void hostileTextAndArguments_areEscapedInEveryDocument() throws IOException {
        String hostile = "\u009b2J\u202e";
        Path file = snapshot("hostile", "charge_card");
        Files.writeString(
                file,
                Files.readString(file)
                        .replace("\"Pay\"", "\"" + hostile + "\"")
                        .replace("{\"cents\":5}", "{\"to\":\"" + hostile + "\"}"));
        elsewhere().run("resume", file.toString(), "--agent", "payer", "--thread", "hostile", "--volatile");

        List<String[]> commands = new ArrayList<>(List.of(
                new String[] {"show", "hostile", "--json"},
                new String[] {"calls", "hostile", "--json"},
                new String[] {"pending", "hostile", "--json"}));
        for (String format : List.of("runner", "thread", "phases", "messages", "session", "versions")) {
            commands.add(new String[] {"checkpoint", "hostile", "--format", format});
        }
        for (String[] command : commands) {
            Done done = elsewhere().run(command);
            assertThat(done.out()).as(String.join(" ", command)).contains("\\u009b2J\\u202e");
            assertThat(done.out() + done.err()).doesNotContain("\u009b", "\u202e");
        }
    }

    @Test
    void corruptFile_isNamedOnOneLineWithWhatToDo() throws IOException {
        Path file = Files.writeString(directory.resolve("broken.json"), "{\"messages\":[");
        Path large = Files.writeString(directory.resolve("large.json"), "[".repeat(9 * 1024 * 1024));

        Done corrupt = elsewhere().run("resume", file.toString(), "--json");
        Done tooLarge = elsewhere().run("resume", large.toString(), "--json");

        assertThat(corrupt.exitCode()).isEqualTo(2);
        assertThat(corrupt.err())
                .startsWith("waymark: the checkpoint is corrupt: " + file + " (")
                .contains("). Nothing was started. ")
                .hasLineCount(1);
        assertThat(tooLarge.exitCode()).isEqualTo(2);
        assertThat(tooLarge.err())
                .startsWith("waymark: the checkpoint is too large: " + large + " (more than 8388608 bytes). ")
                .hasLineCount(1);
        assertThat(tooLarge.json().at("/error/type").textValue()).isEqualTo("TooLarge");
    }

    @Test
    void messages_replaceClearAndAppend_applyToLaterTurns() throws IOException {
        Path two = Files.writeString(
                directory.resolve("two.json"),
                "[{\"role\":\"user\",\"content\":\"Old\"},{\"role\":\"assistant\",\"content\":\"Yes\"}]");
        Path none = Files.writeString(directory.resolve("none.json"), "[]");
        String[] run = {"run", "--thread", "priority"};
        here().run("run", "--agent", "greeter", "--thread", "priority", "--volatile", "First");

        assertThat(contents(here().run("run", "--thread", "priority", "--messages", two.toString(), "And?", "--json")))
                .containsExactly("Old", "Yes", "And?", "Hello.");
        assertThat(here().run("run", "--thread", "priority", "--messages", none.toString())
                        .exitCode())
                .isZero();
        assertThat(contents(here().run("show", "priority", "--json"))).isEmpty();
        assertThat(here().run(run).exitCode()).isEqualTo(2);
        assertThat(contents(here().run("say", "priority", "Anew", "--json"))).containsExactly("Anew", "Hello.");
        assertThat(here().run(run)).isEqualTo(new Done(0, "Hello.\n", ""));

        String saved = "file:" + directory.resolve("saved");
        assertThat(here().run("save", "priority", "--to", saved).exitCode()).isZero();
        assertThat(contents(elsewhere()
                        .run("resume", "priority", "--from", saved, "--agent", "greeter", "--answer", "On", "--json")))
                .startsWith("Anew", "Hello.")
                .endsWith("On", "Hello.")
                .doesNotContain("First", "Old");
    }

    private static List<String> contents(Done done) {
        return StreamSupport.stream(done.json().get("messages").spliterator(), false)
                .map(message -> message.get("content"))
                .map(content -> content.isTextual() ? content : content.get(0).get("text"))
                .map(JsonNode::textValue)
                .toList();
    }

    private static List<String> names(JsonNode object) {
        return object.properties().stream().map(java.util.Map.Entry::getKey).toList();
    }
}
