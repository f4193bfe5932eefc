package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Command.Done;
import dev.waymark.e2e.product.Dev;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the commands for decisions about calls as a shell does. Each test has its own agent or threads. */
@Tag("full")
class DecisionsTest {
    private static final Pattern NEXT = Pattern.compile("Repeat the command with --after (\\S+)");

    @TempDir
    static Path directory;

    private static Dev dev;
    private static Command waymark;

    @BeforeAll
    static void startDev() {
        dev = Dev.inMemory(new Agents(directory)
                .charger("edited", 1, "")
                .charger("denied", 1, "")
                .charger("several", 2, "")
                .charger("listed", 1, "")
                .deduping("deduping")
                .unsure()
                .unsureHonoured()
                .parallel()
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
    void approve_withOtherArguments_runsThem() throws IOException {
        JsonNode asked = start("edited", "edited");
        assertThat(asked.get("question").textValue()).isEqualTo("May charge_card {\"cents\": 500} run?");
        JsonNode item = asked.get("pending").get(0);
        assertThat(item.get("kind").textValue()).isEqualTo("approval");
        assertThat(asked.get("checkpoint").get("pendingToolUseId").textValue()).isEqualTo("tu_1");
        String digest = item.get("argsDigest").textValue();
        assertThat(waymark.run("pending", "edited").out())
                .contains(
                        "May charge_card {\"cents\": 500} run?",
                        "waymark approve edited --digest " + digest,
                        "waymark deny edited --digest " + digest + " --reason TEXT");

        Done stale = waymark.run("approve", "edited", "--digest", "e3b0", "--json");
        assertRefused(stale, 2, "ArgsChanged");
        assertThat(stale.err()).contains(digest);
        assertRefused(waymark.run("approve", "edited", "--call", "tu_9", "--json"), 3, "NotFound");
        Done misfit = waymark.run("approve", "edited", "--args", "{\"cents\":\"400\"}", "--json");
        // Without a digest, the command first shows the call that would run.
        assertThat(misfit.exitCode()).isEqualTo(2);
        assertThat(misfit.err())
                .startsWith(
                        "May charge_card {\"cents\": 500} run?\n  with other arguments: {\"cents\": \"400\"}\nwaymark: ")
                .contains("charge_card: /cents: string found, integer expected");
        assertThat(misfit.json().get("error").get("type").textValue()).isEqualTo("BadInput");
        assertThat(directory.resolve("edited.ledger")).doesNotExist();

        String[] approve = {
            "approve", "edited", "--digest", digest, "--args", "{\"cents\":400}", "--by", "ann", "--reason", "less"
        };
        assertThat(waymark.run(approve)).isEqualTo(new Done(0, "Charged.\n", ""));
        assertThat(Files.readAllLines(directory.resolve("edited.ledger"))).containsExactly("{\"cents\":400}");
        JsonNode call = waymark.run("calls", "edited", "--json").json().get(0);
        assertThat(call.get("status").textValue()).isEqualTo("completed");
        assertThat(call.get("args").toString()).isEqualTo("{\"cents\":400}");
        assertThat(call.get("key").textValue()).hasSize(64);
        assertThat(call.has("claimedAt")).isTrue();
        JsonNode approval = call.get("approval");
        assertThat(approval.get("edited").booleanValue()).isTrue();
        assertThat(approval.get("by").textValue()).isEqualTo("ann");
        assertThat(approval.get("reason").textValue()).isEqualTo("less");

        assertRefused(waymark.run("approve", "edited", "--call", "tu_1", "--json"), 2, "AlreadyDecided");
        assertRefused(waymark.run("approve", "edited", "--json"), 3, "NotFound");
        assertThat(waymark.run("verify", "edited").exitCode()).isZero();
    }

    @Test
    void pending_filtered_listsMatchingCallsOnly() {
        start("parallel", "listed");
        start("listed", "listed-too");

        assertThat(callsOf("--agent", "parallel", "--kind", "question")).contains("listed/tu_1");
        assertThat(callsOf("listed", "--status", "interrupted")).containsExactly("listed/tu_1", "listed/tu_2");
        assertThat(callsOf("listed", "--limit", "1")).containsExactly("listed/tu_1");
        assertThat(callsOf("listed", "--agent", "listed")).isEmpty();
        assertThat(callsOf("listed", "--status", "running")).isEmpty();
        assertThat(callsOf("--agent", "listed")).containsExactly("listed-too/tu_1");
        assertThat(callsOf("--kind", "approval", "--status", "interrupted"))
                .contains("listed/tu_2", "listed-too/tu_1")
                .doesNotContain("listed/tu_1");
    }

    @Test
    void limit_withoutSearchAttributes_omitsNothingSilently() {
        start("parallel", "paged");
        start("listed", "paged-too");
        Done whole = waymark.run("pending", "--json");
        assertThat(whole.err()).isEmpty();

        List<JsonNode> read = new ArrayList<>();
        String after = null;
        do {
            List<String> command = new ArrayList<>(List.of("pending", "--json", "--limit", "1"));
            if (after != null) {
                command.addAll(List.of("--after", after));
            }
            Done page = waymark.run(command.toArray(String[]::new));
            page.json().forEach(read::add);
            Matcher next = NEXT.matcher(page.err());
            after = next.find() ? next.group(1) : null;
        } while (after != null);
        assertThat(read).hasSizeGreaterThan(2).containsExactlyElementsOf(whole.json());

        int threads = waymark.run("sessions", "--json").json().size();
        Done sessions = waymark.run("sessions", "--json", "--limit", "1");
        assertThat(sessions.json()).hasSize(1);
        assertThat(sessions.err())
                .isEqualTo("There are " + (threads - 1) + " more threads. Repeat the command with a higher --limit\n");
        assertThat(waymark.run("pending", "paged", "--limit", "1").err())
                .endsWith("There is 1 more request. Repeat the command with a higher --limit\n");
    }

    private static List<String> callsOf(String... options) {
        List<String> arguments = new ArrayList<>(List.of("pending", "--json"));
        arguments.addAll(List.of(options));
        return StreamSupport.stream(
                        waymark.run(arguments.toArray(String[]::new)).json().spliterator(), false)
                .map(item -> item.get("thread").textValue() + "/"
                        + item.get("callId").textValue())
                .toList();
    }

    @Test
    void deny_runsNothingAndTellsTheModelWhy() {
        start("denied", "denied");
        Done withArgs = waymark.run("deny", "denied", "--args", "{}");
        assertThat(withArgs.exitCode()).isEqualTo(2);

        assertThat(waymark.run("deny", "denied", "--reason", "Too dear.").exitCode())
                .isZero();

        assertThat(waymark.run("show", "denied").out())
                .contains("Tool execution denied by user. The charge_card tool was not executed. Reason: Too dear.");
        assertRefused(waymark.run("approve", "denied", "--call", "tu_1", "--json"), 2, "AlreadyDecided");
        assertThat(directory.resolve("denied.ledger")).doesNotExist();
    }

    @Test
    void approve_severalOpen_listsThemAndAcceptsAnyOrder() throws IOException {
        start("several", "several");
        Done unnamed = waymark.run("approve", "several", "--json");
        assertRefused(unnamed, 2, "CallRequired");
        assertThat(unnamed.err()).contains("tu_1, tu_2");

        JsonNode first =
                waymark.run("approve", "several", "--call", "tu_2", "--json").json();
        assertThat(first.get("status").textValue()).isEqualTo("interrupted");
        assertThat(first.get("pending")).hasSize(1);
        assertThat(waymark.run("deny", "several", "--call", "tu_1").out()).isEqualTo("Charged.\n");
        assertThat(Files.readAllLines(directory.resolve("several.ledger"))).containsExactly("{\"cents\":1000}");
    }

    @Test
    void settle_unknownOutcome_asksAPerson() {
        JsonNode asked = start("unsure", "settled");
        assertThat(asked.get("question").textValue())
                .isEqualTo(
                        "Did charge_card {\"cents\": 500} take effect? The outcome is unknown: timed out after 1s and was killed");
        assertThat(asked.get("pending").get(0).get("kind").textValue()).isEqualTo("unknown");
        assertThat(waymark.run("pending", "settled").out())
                .contains("waymark settle settled --call tu_1 --outcome done --result TEXT");
        JsonNode open = waymark.run("calls", "settled", "--pending", "--json").json();
        assertThat(open.get(0).get("status").textValue()).isEqualTo("claimed");

        String[] done = {"settle", "settled", "--call", "tu_1", "--outcome", "done", "--result", "receipt 7"};
        assertThat(waymark.run(done)).isEqualTo(new Done(0, "So be it.\n", ""));
        assertThat(waymark.run("show", "settled").out()).contains("<- receipt 7  [tu_1]");
        assertThat(waymark.run("calls", "settled").out()).contains("settled: done");
        assertThat(waymark.run("calls", "settled", "--pending", "--json").json())
                .isEmpty();
        assertRefused(
                waymark.run("settle", "settled", "--call", "tu_1", "--outcome", "give-up", "--json"),
                2,
                "AlreadyDecided");
    }

    @Test
    void settle_givenUp_tellsTheModelThatTheOutcomeIsUnknown() {
        start("unsure", "given-up");

        assertThat(waymark.run("settle", "given-up", "--call", "tu_1", "--outcome", "give-up")
                        .exitCode())
                .isZero();
        assertThat(waymark.run("calls", "given-up", "--json")
                        .json()
                        .get(0)
                        .get("status")
                        .textValue())
                .isEqualTo("lost");
        assertThat(waymark.run("checkpoint", "given-up").out()).contains("tool-durability-error");
    }

    @Test
    void settle_notDone_tellsTheModelAndStoresTheNote() {
        start("unsure", "not-done");
        String pending = waymark.run("pending", "not-done").out();
        assertThat(pending)
                .contains("--outcome not-done", "It can't be run again: the lost execution may still take effect")
                .doesNotContain("--outcome rerun");

        Done told = waymark.run(
                "settle",
                "not-done",
                "--call",
                "tu_1",
                "--outcome",
                "not-done",
                "--by",
                "ann",
                "--note",
                "not on the statement");

        assertThat(told).isEqualTo(new Done(0, "So be it.\n", ""));
        JsonNode call = waymark.run("calls", "not-done", "--json").json().get(0);
        assertThat(call.get("status").textValue()).isEqualTo("failed");
        assertThat(call.get("dispatches").intValue()).isEqualTo(1);
        assertThat(call.at("/settled/outcome").textValue()).isEqualTo("not-done");
        assertThat(call.at("/settled/note").textValue()).isEqualTo("not on the statement");
        assertThat(waymark.run("show", "not-done").out())
                .contains(
                        "settled: not-done by ann: not on the statement",
                        "<- error: Tool error: the call did not take effect, as settled by ann.");
        assertThat(waymark.run("verify", "not-done").exitCode()).isZero();
    }

    @Test
    void settle_rerunIfKeyIsHonoured_reusesTheKey() {
        start("unsure", "not-honoured");
        assertRefused(
                waymark.run("settle", "not-honoured", "--call", "tu_1", "--outcome", "rerun", "--json"), 2, "BadInput");
        start("unsure-honoured", "rerun");
        JsonNode before = waymark.run("calls", "rerun", "--json").json().get(0);

        JsonNode again = waymark.run("settle", "rerun", "--call", "tu_1", "--outcome", "rerun", "--json")
                .json();

        assertThat(again.get("pending").get(0).get("kind").textValue()).isEqualTo("unknown");
        JsonNode after = waymark.run("calls", "rerun", "--json").json().get(0);
        assertThat(after.get("dispatches").intValue()).isEqualTo(2);
        assertThat(after.get("key")).isEqualTo(before.get("key"));
    }

    @Test
    void clear_withoutAll_remembersEffects() throws IOException {
        start("deduping", "deduping");
        waymark.run("clear", "deduping");
        waymark.run("say", "deduping", "Once more");
        assertThat(waymark.run("show", "deduping").out()).contains("[idempotent replay of tu_1]: charged");
        assertThat(Files.readAllLines(directory.resolve("deduping.ledger"))).hasSize(1);

        waymark.run("clear", "deduping", "--all");
        waymark.run("say", "deduping", "Really");
        assertThat(Files.readAllLines(directory.resolve("deduping.ledger"))).hasSize(2);
    }

    @Test
    void fourParallelCalls_getTheirResultsInCallOrder() {
        JsonNode asked = start("parallel", "parallel");
        assertThat(texts(asked.get("pending"), "callId")).containsExactly("tu_1", "tu_2");
        assertThat(texts(asked.get("pending"), "kind")).containsExactly("question", "approval");
        assertThat(texts(waymark.run("calls", "parallel", "--pending", "--json").json(), "callId"))
                .containsExactlyInAnyOrder("tu_1", "tu_2");

        JsonNode approved =
                waymark.run("approve", "parallel", "--by", "ann", "--json").json();
        assertThat(approved.get("status").textValue()).isEqualTo("interrupted");
        assertThat(texts(approved.get("pending"), "callId")).containsExactly("tu_1");
        JsonNode done = waymark.run("answer", "parallel", "Friday", "--json").json();

        assertThat(done.get("text").textValue()).isEqualTo("All done.");
        JsonNode results = done.get("messages").get(2).get("content");
        assertThat(texts(results, "toolUseId")).containsExactly("tu_1", "tu_2", "tu_3", "tu_4");
        assertThat(texts(results, "content"))
                .satisfiesExactly(
                        answer -> assertThat(answer).isEqualTo("Friday"),
                        paid -> assertThat(paid).isEqualTo("paid {\"cents\":5}"),
                        failed -> assertThat(failed).startsWith("Tool error: ").contains("no such file"),
                        sunny -> assertThat(sunny).isEqualTo("sunny"));
        assertThat(results.findValues("isError")).hasSize(1);
        assertThat(waymark.run("verify", "parallel").exitCode()).isZero();
    }

    private static JsonNode start(String agent, String thread) {
        return waymark.run("run", "--agent", agent, "--thread", thread, "--volatile", "Charge", "--json")
                .json();
    }

    private static void assertRefused(Done done, int exitCode, String type) {
        assertThat(done.exitCode()).isEqualTo(exitCode);
        assertThat(done.err()).startsWith("waymark: ").hasLineCount(1);
        assertThat(done.json().get("error").get("type").textValue()).isEqualTo(type);
    }

    private static List<String> texts(JsonNode list, String field) {
        return StreamSupport.stream(list.spliterator(), false)
                .map(item -> item.get(field).textValue())
                .toList();
    }
}
