package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.request.Prompt;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usd;
import dev.waymark.e2e.product.CliWorkerProcess;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Command.Done;
import dev.waymark.e2e.product.Dev;
import dev.waymark.e2e.product.Tracker;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.fixtures.model.OpenAiServer;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.process.ChildProcess;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs each agent of the repository, unchanged, until its turn has ended. */
@TestInstance(Lifecycle.PER_CLASS)
@Timeout(400)
@Tag("full")
class AgentsTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Path AGENTS = ROOT.resolve("agents");

    private final ModelServer anthropic = new AnthropicServer();
    private final ModelServer openai = new OpenAiServer();
    private final Tracker tracker = Tracker.start();
    private Path directory;
    private Dev server;
    private CliWorkerProcess worker;
    private Command waymark;
    private AgentClient client;

    @BeforeAll
    void start(@TempDir Path folder) {
        directory = folder;
        Map<String, String> environment = new LinkedHashMap<>();
        environment.putAll(anthropic.environment());
        environment.putAll(openai.environment());
        environment.put("ISSUES_API", tracker.address());
        environment.put("ISSUES_TOKEN", Tracker.TOKEN);
        environment.put("TMPDIR", folder.toString());
        server = Dev.inMemoryWithoutWorker(folder);
        waymark = Command.warmAt(server.address());
        client = AgentClient.connect(server.address());
        worker = CliWorkerProcess.start(server.address(), AGENTS, environment, folder.resolve("worker.log"));
    }

    @AfterAll
    void stop() {
        if (client != null) {
            client.close();
        }
        if (worker != null) {
            worker.close();
        }
        if (server != null) {
            server.close();
        }
        tracker.close();
        anthropic.close();
        openai.close();
    }

    @Test
    void everyAgent_hasATest() {
        JsonNode agents =
                waymark.run("agents", "--json", "--agents", AGENTS.toString()).json();

        assertThat(agents.valueStream().map(agent -> agent.get("name").textValue()))
                .containsExactly(
                        "assistant",
                        "billing",
                        "checker",
                        "hello",
                        "librarian",
                        "reader",
                        "release",
                        "triage",
                        "weather");
    }

    @Test
    void assistantWeatherAndBilling_completeTheirTasks() throws IOException {
        assertThat(textOf(client.prompt("weather", "How is it?").await()))
                .isEqualTo("Lisbon is sunny, and in Bergen it rains.");

        String trip = client.prompt("assistant", "Book a table").await().thread();
        assertThat(textOf(client.answer(trip, "Friday").await())).isEqualTo("Your table is booked.");

        String table = client.prompt("billing", "Settle the bill").await().thread();
        assertThat(textOf(client.approve(table).await())).contains("is settled");
        assertThat(Files.readAllLines(directory.resolve("waymark-ledger.txt"))).hasSize(1);
    }

    private static String textOf(AgentResult result) {
        return AgentResult.assertComplete(result).text();
    }

    @Test
    void release_approved_tagsOnceWithNotes() throws Exception {
        Path repository = repository("approved");
        AgentResult asked = client.run(release(repository)).await();
        String thread = asked.thread();
        assertThat(question(asked)).isEqualTo("Last release: v1.0.0. Commits since: 2. Which version is it to be?");
        String commit = git(repository, "rev-parse", "--short=12", "HEAD");
        assertThat(question(client.answer(thread, "v1.1.0").await()))
                .isEqualTo("May tag_release {\"commit\": \"" + commit
                        + "\", \"state\": \"1 files are not committed\", \"version\": \"v1.1.0\"} run?");

        assertThat(textOf(client.approve(thread).await()))
                .isEqualTo("v1.1.0 is on " + commit + ". The notes are in the thread, as NOTES.md.");

        assertThat(git(repository, "tag", "--list", "--format=%(contents)", "v1.1.0"))
                .matches("Release 1.1.0\n\n- Forget nothing\n- Count \"lines\", too\n\nWaymark-Key: [0-9a-f]{64}");
        assertThat(client.timeline(thread).now().workspace().files().get("NOTES.md"))
                .hasValueSatisfying(notes -> assertThat(notes.content())
                        .isEqualTo("# v1.1.0\n\n- Forget nothing\n- Count \"lines\", too\n"));
    }

    @Test
    void release_denied_tagsNothingAndSaysWhy() throws Exception {
        Path repository = repository("denied");
        String thread = client.run(release(repository)).await().thread();
        client.answer(thread, "1.1.0").await();

        assertThat(textOf(client.deny(thread, "Not on a Friday.").await())).contains("Not on a Friday.");
        assertThat(git(repository, "tag")).isEqualTo("v1.0.0");
    }

    private static Prompt release(Path repository) {
        return Prompt.of("release", "Make a release").withContext(Json.of(Map.of("repository", repository.toString())));
    }

    private static String question(AgentResult result) {
        return ((AgentResult.Interrupted) result).question();
    }

    private Path repository(String name) throws IOException, InterruptedException {
        Path repository = Files.createDirectory(directory.resolve(name));
        git(repository, "init", "--quiet");
        git(repository, "config", "user.name", "Ann");
        git(repository, "config", "user.email", "ann@example.com");
        commit(repository, "Count words");
        git(repository, "tag", "v1.0.0");
        commit(repository, "Count \"lines\", too");
        commit(repository, "Forget nothing");
        Files.writeString(repository.resolve("draft"), "");
        return repository;
    }

    private static void commit(Path repository, String subject) throws IOException, InterruptedException {
        git(repository, "commit", "--quiet", "--allow-empty", "--message", subject);
    }

    private static String git(Path repository, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("git"));
        command.addAll(List.of(arguments));
        ChildProcess.Ended ended = ChildProcess.of(command).in(repository).run(Duration.ofMinutes(1));
        assertThat(ended.exitCode()).as(ended.toString()).isZero();
        return ended.out().strip();
    }

    @Test
    void triage_postsApprovedCommentsAndSummarizes() {
        anthropic.answers(
                ModelAnswer.says()
                        .calls("tu_1", "list_issues", "{\"state\":\"open\"}")
                        .using(1_000, 50),
                ModelAnswer.says()
                        .calls("tu_2", "read_issue", "{\"number\":7}")
                        .calls("tu_3", "read_comments", "{\"number\":7}")
                        .using(2_000, 60),
                ModelAnswer.says("I label it, and ask. ")
                        .calls("tu_4", "label_issue", "{\"number\":7,\"labels\":[\"bug\"]}")
                        .calls("tu_5", "comment", "{\"number\":7,\"body\":\"Which version is it?\"}")
                        .using(3_000, 100),
                ModelAnswer.says("7 bug: it forgets words.").using(61_000, 40),
                ModelAnswer.says("Issue 7 is a bug.").using(5_000, 200),
                ModelAnswer.says("Nothing else is open.").using(4_000, 30));

        AgentResult asked = client.run(Prompt.of("triage", "Sort the issues")
                        .withThread("issues")
                        .allowingVolatile())
                .await();
        assertThat(question(asked)).isEqualTo("May comment {\"body\": \"Which version is it?\", \"number\": 7} run?");
        assertThat(textOf(client.approve("issues").await())).isEqualTo("7 bug: it forgets words.");
        AgentResult rest = client.say("issues", "And the rest?").await();

        assertThat(anthropic.complaints()).isEmpty();
        assertThat(tracker.requests())
                .containsExactlyInAnyOrder(
                        "GET /issues?per_page=20&state=open",
                        "GET /issues/7",
                        "GET /issues/7/comments",
                        "POST /issues/7/labels {\"labels\":[\"bug\"]}",
                        "POST /issues/7/comments {\"body\":\"Which version is it?\"}");
        assertThat(textOf(rest)).isEqualTo("Nothing else is open.");
        assertThat(rest.messages().get(0).toString())
                .contains("[Previous conversation summary]\nIssue 7 is a bug.\n[End of summary");
        // 76,000 tokens at 3 dollars per million, and 480 at 15 dollars per million.
        assertThat(rest.cost()).contains(Usd.of(new BigDecimal("0.2352")));
        assertThat(client.inspector().verify("issues").agrees()).isTrue();
    }

    @Test
    void librarian_delegatesToReaderAndChecker() {
        openai.answers(
                ModelAnswer.says().calls("tu_1", "list_documents", "{}").using(1_000, 100),
                ModelAnswer.says()
                        .calls("tu_2", "reader", "{\"task\":\"How often does a charge happen?\"}")
                        .using(1_000, 100),
                ModelAnswer.says()
                        .calls("tu_1", "search_documents", "{\"text\":\"AT MOST once\"}")
                        .using(1_000, 100),
                ModelAnswer.says()
                        .calls("tu_2", "read_document", "{\"name\":\"guide/side-effects.md\",\"from\":1}")
                        .using(1_000, 100),
                ModelAnswer.says("guide/side-effects.md: at most once.").using(1_000, 100),
                ModelAnswer.says()
                        .calls("tu_3", "checker", "{\"task\":\"A charge happens at most once: guide/side-effects.md\"}")
                        .using(1_000, 100),
                ModelAnswer.says("All of it is there.").using(1_000, 100),
                ModelAnswer.says("At most once, says guide/side-effects.md.").using(1_000, 100));

        AgentResult done =
                client.prompt("librarian", "How often is a card charged?").await();

        assertThat(openai.complaints()).isEmpty();
        assertThat(textOf(done)).isEqualTo("At most once, says guide/side-effects.md.");
        // Eight calls, each with 1,000 tokens at 0.25 dollars per million and 100 tokens at 2 dollars per million.
        assertThat(done.cost()).contains(Usd.of(new BigDecimal("0.0036")));
        assertThat(client.timeline(done.thread() + "/tu_2").now().transcript().messages().stream()
                        .flatMap(message -> message.toolResults().stream())
                        .map(Part.ToolResult::content))
                .satisfiesExactly(
                        found -> assertThat(found)
                                .contains("guide/side-effects.md:")
                                .contains("at most once"),
                        read -> assertThat(read).startsWith("# Tools with side effects\n"));
    }

    @Test
    void worker_withoutKeys_runsAgentsWithoutKeysAndWarns() throws IOException {
        Map<String, String> without = Map.of(
                "ANTHROPIC_API_KEY", "",
                "ANTHROPIC_BASE_URL", "",
                "OPENAI_API_KEY", "",
                "OPENAI_BASE_URL", "",
                "WAYMARK_TASK_QUEUE", "keyless");
        Command keyless = waymark.with("WAYMARK_TASK_QUEUE", "keyless");
        try (CliWorkerProcess poor =
                CliWorkerProcess.start(server.address(), AGENTS, without, directory.resolve("keyless.log"))) {
            assertThat(Files.readAllLines(poor.log()))
                    .contains(
                            "waymark: OPENAI_API_KEY is not set: checker, librarian, reader."
                                    + " Set it and restart; until then their turns fail",
                            "waymark: ANTHROPIC_API_KEY is not set: hello, triage."
                                    + " Set it and restart; until then their turns fail");
            assertThat(keyless.run("run", "--agent", "release", "Make a release")
                            .exitCode())
                    .isZero();

            Done failed = keyless.run("run", "--agent", "triage", "Sort the issues", "--json");
            assertThat(failed.exitCode()).isEqualTo(1);
            assertThat(failed.json().at("/error/type").textValue()).isEqualTo("NotConfigured");
            assertThat(failed.err())
                    .startsWith("waymark: the turn failed: ANTHROPIC_API_KEY is not set in the worker's environment:"
                            + " change that, and restart the worker.");
        }
    }
}
