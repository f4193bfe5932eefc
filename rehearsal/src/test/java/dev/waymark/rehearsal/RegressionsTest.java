package dev.waymark.rehearsal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Usd;
import dev.waymark.history.ThreadHistory;
import dev.waymark.history.ThreadHistoryReader;
import dev.waymark.model.ModelProvider;
import dev.waymark.rehearsal.gate.ServerThreads;
import dev.waymark.rehearsal.gate.ThreadSource;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.server.InMemoryServer;
import dev.waymark.worker.tool.java.JavaTools;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.MethodDescriptor;
import io.temporal.client.WorkflowOptions;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Seeded regressions of an agent, rehearsed on threads that a worker ran. */
@Tag("full")
@Timeout(120)
class RegressionsTest {
    private static final ModelProviders PROVIDERS = ModelProviders.of(Map.of("desk", new DeskModel()));
    private static final String AGENT = """
            model: desk:large
            instructions: >
              You are the desk of a shop. Look an order up first. Refund only within 30 days. Never mention the code
              BEAR10. Ask for the number of the order. Confirm a refund by mail. Answer in one sentence. Sign as the
              desk.
            tools:
              - name: find_order
                description: Finds an order by its number
                input: { type: object, required: [order], properties: { order: { type: string } } }
                command: [./find.sh]
                safe_to_retry: true
              - name: refund
                description: Refunds an order
                input: { type: object, required: [order, cents], properties: { order: { type: string }, cents: { type: integer } } }
                command: [./refund.sh]
                approval:
                  - { when: { properties: { cents: { minimum: 10000 } } }, then: deny, reason: too much }
                  - { when: { properties: { cents: { maximum: 2000 } } }, then: allow, reason: small }
              - name: send_mail
                description: Sends a mail to the customer
                input: { type: object, required: [text], properties: { text: { type: string } } }
                command: [./mail.sh]
            """;
    private static final List<String> MESSAGES = List.of(
            "Where is #1?",
            "Refund #1",
            "Refund #2",
            "Refund #3",
            "Refund #4",
            "Refund please",
            "Is there a discount?");

    private static InMemoryServer server;
    private static Connection connection;

    @TempDir
    static Path directory;

    private static Path agents;

    @BeforeAll
    static void record() throws Exception {
        agents = Files.createDirectory(directory.resolve("agents"));
        Files.writeString(agents.resolve("desk.yaml"), AGENT);
        script("find.sh", """
                case $(cat) in
                  *'"1"'*) echo 'days=3 cents=1500' ;;
                  *'"2"'*) echo 'days=90 cents=1500' ;;
                  *'"3"'*) echo 'days=3 cents=5000' ;;
                  *) echo 'days=3 cents=20000' ;;
                esac
                """);
        script("refund.sh", "echo refund >> effects; echo refunded");
        script("mail.sh", "echo mail >> effects; echo mailed");
        server = InMemoryServer.start(0);
        connection = Connection.to(server.address());
        try (AgentWorker worker = AgentWorker.builder(connection.client())
                .taskQueue("desk")
                .agents(load(agents))
                .providers(PROVIDERS)
                .build()) {
            worker.start();
            for (int i = 0; i < MESSAGES.size(); i++) {
                connection
                        .client()
                        .newUntypedWorkflowStub(
                                WireNames.WORKFLOW_TYPE,
                                WorkflowOptions.newBuilder()
                                        .setTaskQueue("desk")
                                        .setWorkflowId("t" + i)
                                        .build())
                        .start(StartInput.of("desk")
                                .closingAfterOneTurn()
                                .saying(PersonFact.UserSpoke.message("m-1", MESSAGES.get(i))));
            }
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> new ThreadHistoryReader(connection.client())
                            .threads(Optional.empty(), Optional.empty())
                            .equals(List.of("t3"))); // It waits for a person.
        }
    }

    @AfterAll
    static void stop() {
        connection.close();
        server.close();
    }

    private static void script(String name, String text) throws Exception {
        Path file = Files.writeString(agents.resolve(name), "#!/bin/sh\n" + text + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
    }

    private static AgentDirectory load(Path from) throws Exception {
        return AgentDirectory.load(from, PROVIDERS, JavaTools.NONE);
    }

    private static ThreadSource threads(Connection reading) {
        return ServerThreads.of(reading.client(), Optional.of(Instant.EPOCH), Optional.empty());
    }

    private RehearsalReport rehearse(String agentFile, ThreadSource source, Path store) throws Exception {
        return rehearse(agentFile, source, store, RehearsalSettings.DEFAULT);
    }

    private RehearsalReport rehearse(String agentFile, ThreadSource source, Path store, RehearsalSettings settings)
            throws Exception {
        Path changed = Files.createTempDirectory(directory, "changed");
        Files.writeString(changed.resolve("desk.yaml"), agentFile);
        for (String script : List.of("find.sh", "refund.sh", "mail.sh")) {
            Files.copy(agents.resolve(script), changed.resolve(script));
        }
        Candidate candidate =
                new Candidate("changed", Optional.of(load(changed)), PROVIDERS, Map.of(), Optional.empty());
        Spending spending = new Spending(Usd.of(BigDecimal.TEN));
        return new Rehearsal(
                        List.of(candidate),
                        settings,
                        Optional.empty(),
                        new AnswerStore(store, Optional.empty()),
                        spending)
                .run(source, Integer.MAX_VALUE, (part, decided) -> {});
    }

    private RehearsalReport rehearse(String agentFile) throws Exception {
        return rehearse(agentFile, threads(connection), Files.createTempDirectory(directory, "answers"));
    }

    @Test
    void unchangedAgent_decidesTheSameAndRunsAndWritesNothing() throws Exception {
        String effects = Files.readString(agents.resolve("effects"));
        List<String> before = histories();
        Set<String> methods = new ConcurrentSkipListSet<>();
        try (Connection watched = Connection.to(server.address(), naming(methods))) {
            RehearsalReport report = rehearse(AGENT, threads(watched), Files.createTempDirectory(directory, "answers"));

            RehearsalReport.OfCandidate result = report.candidates().get(0);
            assertThat(report.threads()).isEqualTo(MESSAGES.size());
            assertThat(result.shown()).isEmpty();
            assertThat(result.same()).isEqualTo(result.replies()).isGreaterThan(12);
            assertThat(report.isComplete()).isTrue();
        }
        assertThat(Files.readString(agents.resolve("effects")))
                .isEqualTo(effects)
                .isNotEmpty();
        assertThat(histories()).isEqualTo(before);
        assertThat(methods).allMatch(name -> name.matches("(Get|List|Describe).*"), "reads only");
    }

    private static List<String> histories() {
        ThreadHistoryReader reader = new ThreadHistoryReader(connection.client());
        return reader.threads(Optional.of(Instant.EPOCH), Optional.empty()).stream()
                .map(name -> reader.read(name)
                        .map(ThreadHistory::document)
                        .orElseThrow()
                        .toString())
                .toList();
    }

    private static ClientInterceptor naming(Set<String> methods) {
        return new ClientInterceptor() {
            @Override
            public <A, B> ClientCall<A, B> interceptCall(
                    MethodDescriptor<A, B> method, CallOptions options, Channel next) {
                methods.add(String.valueOf(method.getBareMethodName()));
                return next.newCall(method, options);
            }
        };
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
            no look-up              | Look an order up first.                  | ^^
            no limit of days        | Refund only within 30 days.              | ^^
            code may be told        | Never mention the code BEAR10.           | ^^
            no question             | Ask for the number of the order.         | ^^
            no confirmation         | Confirm a refund by mail.                | ^^
            longer answers          | Answer in one sentence.                  | ^^
            no signature            | Sign as the desk.                        | ^^
            other limit of days     | within 30 days                           | within a month
            tool renamed            | name: find_order                         | name: search
            effect renamed          | name: refund                             | name: pay_back
            tool described badly    | Finds an order by its number             | Database access
            effect described badly  | Refunds an order                         | Books money
            mail described badly    | Sends a mail to the customer             | Mailer
            field renamed           | cents: { type: integer }                 | amount: { type: integer }
            field added             | order: { type: string }, cents:          | order: { type: string }, why: { type: string }, cents:
            type changed            | cents: { type: integer }                 | cents: { type: string }
            weaker model            | desk:large                               | desk:small
            replies are cut         | model: desk:large                        | max_tokens: 3~model: desk:large
            rule loosened           | maximum: 2000                            | maximum: 6000
            rule tightened          | maximum: 2000                            | maximum: 1000
            denial dropped          | then: deny                               | then: ask
            nobody decides          | model: desk:large                        | approvals: { by: none }~model: desk:large
            """)
    void regression_isFoundWithItsThreadAndDecision(String name, String from, String to) throws Exception {
        String text = AGENT.replaceAll("\\s+(BEAR10|desk\\.)", " $1");
        assertThat(text).as("the agent file").contains(from);

        RehearsalReport report = rehearse(text.replace(from, (to == null ? "" : to).replace("~", "\n")));

        RehearsalReport.OfCandidate result = report.candidates().get(0);
        assertThat(result.changed()).isPositive();
        assertThat(result.shown()).allSatisfy(shown -> {
            assertThat(shown.changes()).isNotEmpty();
            assertThat(shown.thread()).startsWith("t");
            assertThat(shown.place()).matches(".+/e\\d+(\\.\\d+)?");
        });
    }

    /** The refund of 15 dollars is unchanged. The refund of 50 asked a person before, too; that of 200 was denied. */
    @Test
    void tightenedRule_isDistinguishedFromAnotherCall() throws Exception {
        RehearsalReport report = rehearse(AGENT.replace("maximum: 2000", "maximum: 1000"));

        assertThat(report.candidates().get(0).changes())
                .containsExactly(new RehearsalReport.Changes(
                        new ReplyChange(
                                ReplyChange.Kind.ASKED, "refund", true, List.of(), "allow", ReplyChange.Cause.NONE),
                        1,
                        3,
                        Map.of(ReplyChange.Cause.RULES, 1)));
    }

    /** The refund of 15 dollars was allowed. The rule for 100 dollars and more holds for calls without cents, too. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
            RULES     | cents: {}          | cents: { minimum: 1000 } }
            ARGUMENTS | amount: {}         | cents: { minimum: 10000 } }
            EITHER    | amount: {}         | cents: { minimum: 1000 } }
            TOGETHER  | cents: {}, why: {} | why: {} }, required: [why]
            """)
    void cause_isFoundFromOldAndNewRulesAndArguments(ReplyChange.Cause cause, String fields, String rule)
            throws Exception {
        String text = AGENT.replace("[order, cents]", "[order]")
                .replace("cents: { type: integer }", fields)
                .replace("cents: { minimum: 10000 } }", rule);

        assertThat(rehearse(text).candidates().get(0).changes())
                .filteredOn(changes -> changes.change().before().equals("allow"))
                .singleElement()
                .satisfies(changes -> {
                    assertThat(changes.change())
                            .isEqualTo(new ReplyChange(
                                    ReplyChange.Kind.DENIED,
                                    "refund",
                                    true,
                                    List.of(),
                                    "allow",
                                    ReplyChange.Cause.NONE));
                    assertThat(changes.causes()).isEqualTo(Map.of(cause, 1));
                });
    }

    /** The agent's definition equals the recorded one, except for what the report names. */
    @Test
    void differences_nameTheChangedPartsAndReasonsTheRules() throws Exception {
        RehearsalReport.OfCandidate result = rehearse(AGENT.replace("maximum: 2000", "maximum: 1000")
                        .replace("Sends a mail to", "Sends a nice mail to"))
                .candidates()
                .get(0);

        assertThat(result.differences()).containsExactly("approval rules of `refund`", "description of `send_mail`");
        assertThat(result.shown().get(0).recorded().calls().get(0).reason()).contains("small");
        assertThat(result.shown().get(0).now().orElseThrow().calls().get(0).reason())
                .contains("no rule lets it run");
    }

    @Test
    void differences_nameOldAndNewValuesAndNewlySafeTools() throws Exception {
        RehearsalReport.OfCandidate result = rehearse(
                        AGENT.replace("model: desk:large", "model: desk:large\nmax_tokens: 99\nbudget: { usd: 2 }")
                                .replace("command: [./refund.sh]", "command: [./mail.sh]\n    safe_to_retry: true"))
                .candidates()
                .get(0);

        assertThat(result.differences())
                .containsExactly(
                        "command of `refund` `./refund.sh` → `./mail.sh`",
                        "safe_to_retry of `refund` false → true",
                        "max_tokens 16000 → 99",
                        "budget none → 2 USD");
        assertThat(result.newlySafe()).containsExactly("refund");
    }

    /** The agent files have not changed; only the content of one script has. */
    @Test
    void changedScript_isNamed() throws Exception {
        Path changed = Files.createTempDirectory(directory, "changed");
        Files.writeString(changed.resolve("desk.yaml"), AGENT);
        Files.copy(agents.resolve("find.sh"), changed.resolve("find.sh"));
        Files.copy(agents.resolve("mail.sh"), changed.resolve("mail.sh"));
        Files.copy(agents.resolve("mail.sh"), changed.resolve("refund.sh"));

        assertThat(differences(changed)).containsExactly("the script of `refund`");
        Files.delete(changed.resolve("refund.sh"));
        Files.copy(agents.resolve("refund.sh"), changed.resolve("refund.sh"));
        assertThat(differences(changed)).isEmpty();
    }

    private List<String> differences(Path changed) throws Exception {
        Candidate candidate = new Candidate("new", Optional.of(load(changed)), PROVIDERS, Map.of(), Optional.empty());
        Path store = Files.createTempDirectory(directory, "answers");
        Spending spending = new Spending(Usd.of(BigDecimal.TEN));
        return new Rehearsal(
                        List.of(candidate),
                        RehearsalSettings.DEFAULT,
                        Optional.empty(),
                        new AnswerStore(store, Optional.empty()),
                        spending)
                .run(threads(connection), Integer.MAX_VALUE, (part, decided) -> {})
                .candidates()
                .get(0)
                .differences();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
            model: desk:large   | description: The desk~model: desk:large
            safe_to_retry: true | safe_to_retry: true, timeout: 5s
            You are the desk    | You are the friendly desk
            """)
    void harmlessChange_changesNoDecision(String from, String to) throws Exception {
        String replaced = AGENT.replace(from, to.replace("~", "\n").replace(", timeout", "\n    timeout"));

        assertThat(rehearse(replaced).candidates().get(0).changed()).isZero();
    }

    /** Without a look-up, the refund comes first. Its result is recorded for another amount only. */
    @Test
    void continuation_stopsBeforeAnUnrecordedSideEffect() throws Exception {
        String effects = Files.readString(agents.resolve("effects"));

        List<RehearsalReport.Shown> shown = continued("Look an order up first.", "");

        assertThat(thenOf(shown, "t1"))
                .containsExactly(
                        "stopped before refund {\"cents\": 0, \"order\": \"1\"}: there is no result of" + " this call");
        assertThat(thenOf(shown, "t0")).containsExactly("the turn is complete");
        assertThat(Files.readString(agents.resolve("effects"))).isEqualTo(effects);
    }

    /** A refund without a recorded result ends the continuation, and so does one that waits for a person. */
    @Test
    void continuation_usesRecordedResultsAndTheCandidatesRules() throws Exception {
        List<RehearsalReport.Shown> shown = continued("Refund only within 30 days.", "");
        assertThat(thenOf(shown, "t2"))
                .containsExactly("stopped before refund {\"cents\": 1500, \"order\": \"2\"}: there is no result of"
                        + " this call");

        shown = continued("then: deny, reason: too much", "then: ask");
        assertThat(thenOf(shown, "t4"))
                .containsExactly("waits for a person: refund {\"cents\": 20000, \"order\": \"4\"}");

        // The confirmation is dropped and the rest of the turn follows from recorded results.
        shown = continued("Sign as the desk.", "Sign as the desk. Sign as the desk.");
        assertThat(shown).isEmpty();

        shown = continued("minimum: 10000 } } }, then: deny", "minimum: 1000 } } }, then: deny");
        assertThat(thenOf(shown, "t1")).endsWith("says: A refund is not possible. Your desk", "the turn is complete");
    }

    @Test
    void continuation_usesRecordedAndScriptedResultsAndRunsNoTool() throws Exception {
        String effects = Files.readString(agents.resolve("effects"));
        String text = AGENT.replaceAll("\\s+(BEAR10|desk\\.)", " $1")
                .replace("Refund only within 30 days.", "")
                .replace(
                        "command: [./refund.sh]",
                        "command: [" + agents.resolve("refund.sh") + "]\n    safe_to_retry: true");
        RehearsalSettings settings = RehearsalSettings.DEFAULT.withContinued(3);

        assertThat(thenOf(rehearsed(text, settings), "t2"))
                .containsExactly(
                        "stopped before refund {\"cents\": 1500, \"order\": \"2\"}: there is no result of this call");
        ScriptedResults scripted =
                new ScriptedResults(List.of(new ScriptedResults.Entry("refund", Optional.empty(), "refunded", false)));
        assertThat(thenOf(rehearsed(text, settings.withScriptedResults(scripted)), "t2"))
                .contains("refund {\"cents\": 1500, \"order\": \"2\"} → refunded (scripted)");
        assertThat(Files.readString(agents.resolve("effects"))).isEqualTo(effects);
    }

    private List<RehearsalReport.Shown> rehearsed(String text, RehearsalSettings settings) throws Exception {
        return rehearse(text, threads(connection), Files.createTempDirectory(directory, "answers"), settings)
                .candidates()
                .get(0)
                .shown();
    }

    private List<RehearsalReport.Shown> continued(String from, String to) throws Exception {
        String text = AGENT.replaceAll("\\s+(BEAR10|desk\\.)", " $1");
        assertThat(text).contains(from);
        return rehearsed(text.replace(from, to), RehearsalSettings.DEFAULT.withContinued(3));
    }

    private static List<String> thenOf(List<RehearsalReport.Shown> shown, String thread) {
        return shown.stream()
                .filter(each -> each.thread().equals(thread))
                .findFirst()
                .orElseThrow()
                .then();
    }

    /** The judge of this test finds that a signature does not matter, and that a text about an order has a number. */
    @Test
    void judge_decidesAboutTextsAndRubrics() throws Exception {
        Path judged = Files.createTempDirectory(directory, "judged");
        Files.writeString(judged.resolve("desk.yaml"), AGENT.replace("Sign as the\n  desk.", ""));
        Files.writeString(
                judged.resolve("desk.checks.yaml"),
                "checks: [{ judged: It names an order }, { judged: It is polite }]");
        for (String script : List.of("find.sh", "refund.sh", "mail.sh")) {
            Files.copy(agents.resolve(script), judged.resolve(script));
        }
        ModelProvider judge = new FreeModel(request -> {
            String question = request.messages().get(0).text();
            boolean isYes = question.startsWith("Both replies")
                    || (question.contains("It names an order") ? question.contains("#") : question.contains("polite"));
            return Reply.of(new Part.Text(isYes ? "**Yes**, it does." : "No."));
        });
        ModelProviders providers = ModelProviders.of(Map.of("desk", new DeskModel(), "judge", judge));
        Candidate candidate =
                new Candidate("unsigned", Optional.of(load(judged)), providers, Check.in(judged), Optional.empty());
        Spending spending = new Spending(Usd.of(BigDecimal.TEN));
        RehearsalReport report = new Rehearsal(
                        List.of(candidate),
                        RehearsalSettings.DEFAULT.withAllowedProviders(Set.of("judge")),
                        Optional.of(new JudgeModel(
                                "judge:x", providers.find("judge:x").orElseThrow())),
                        new AnswerStore(judged.resolve("answers"), Optional.empty()),
                        spending)
                .run(threads(connection), Integer.MAX_VALUE, (part, decided) -> {});

        RehearsalReport.OfCandidate result = report.candidates().get(0);
        assertThat(result.shown().stream().map(Object::toString)).isEmpty();
        assertThat(result.shownChecks().stream().map(failed -> failed.thread() + " " + failed.check()))
                .containsExactlyInAnyOrder(
                        "t5 judged: It names an order", "t6 judged: It names an order", "t4 judged: It names an order");
        assertThat(report.judge()).hasValueSatisfying(by -> {
            assertThat(by.model()).isEqualTo("judge:x");
            assertThat(by.answers()).isPositive();
        });
    }

    /** The recorded replies do not matter: an unchanged agent may fail checks, too. */
    @Test
    void checks_areMadeForEachThread() throws Exception {
        Path checked = Files.createTempDirectory(directory, "checked");
        Files.writeString(checked.resolve("desk.yaml"), AGENT);
        for (String script : List.of("find.sh", "refund.sh", "mail.sh")) {
            Files.copy(agents.resolve(script), checked.resolve(script));
        }
        Files.writeString(checked.resolve("desk.checks.yaml"), """
                checks:
                  - never_called: send_mail
                  - { called: refund, at_most: 1 }
                  - { arguments_of: refund, match: { properties: { cents: { maximum: 10000 } } } }
                  - text_matches: "Your desk$"
                  - text_never_matches: "BEAR"
                  - tokens_at_most: 430
                  - cost_at_most: 1
                """);
        Candidate candidate =
                new Candidate("checked", Optional.of(load(checked)), PROVIDERS, Check.in(checked), Optional.empty());
        Spending spending = new Spending(Usd.of(BigDecimal.TEN));
        RehearsalReport.OfCandidate result = new Rehearsal(
                        List.of(candidate),
                        RehearsalSettings.DEFAULT,
                        Optional.empty(),
                        new AnswerStore(checked.resolve("answers"), Optional.empty()),
                        spending)
                .run(threads(connection), Integer.MAX_VALUE, (part, decided) -> {})
                .candidates()
                .get(0);

        assertThat(result.changed()).isZero();
        assertThat(result.checks()).isEqualTo(7 * MESSAGES.size());
        assertThat(result.shownChecks().stream().map(failed -> failed.thread() + " " + failed.check()))
                .containsExactlyInAnyOrder(
                        "t1 never_called: send_mail", "t1 tokens_at_most: 430", "t4 arguments_of: refund");
        assertThat(result.failedChecks()).isEqualTo(3);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            checks: [{ calls: x }]                          | expected one of called, never_called
            checks: [{ called: x, at_mots: 1 }]             | at_mots
            checks: [{ text_matches: "(" }]                 | not a regular expression
            checks: [{ arguments_of: x }]                   | match
            checks: [{ json_matches: { type: 5 } }]         | not a JSON Schema
            check: []                                       | checks
            """)
    void brokenChecks_areExplained(String text, String expected) throws Exception {
        Path broken = Files.createTempDirectory(directory, "broken");
        Files.writeString(broken.resolve("desk.checks.yaml"), text);

        assertThatThrownBy(() -> Check.in(broken))
                .hasMessageContaining("desk.checks.yaml:1")
                .hasMessageContaining(expected);
    }

    /** Every request is reserved before it is sent, so a rehearsal that is stopped by its ceiling says so. */
    @Test
    void ceiling_stopsTheRehearsalUntilItIsRaised() throws Exception {
        Path store = Files.createTempDirectory(directory, "answers");
        Candidate candidate = new Candidate("same", Optional.of(load(agents)), PROVIDERS, Map.of(), Optional.empty());
        List<Integer> asked = new ArrayList<>();
        Optional<RehearsalReport> report = Optional.empty();
        for (int mills = 60; report.filter(RehearsalReport::isComplete).isEmpty(); mills++) {
            Usd most = Usd.of(BigDecimal.valueOf(mills, 3));
            Spending spending = new Spending(most);
            Rehearsal rehearsal = new Rehearsal(
                    List.of(candidate),
                    RehearsalSettings.DEFAULT,
                    Optional.empty(),
                    new AnswerStore(store, Optional.empty()),
                    spending);
            report = Optional.of(rehearsal.run(threads(connection), Integer.MAX_VALUE, (part, decided) -> {}));
            asked.add(rehearsal.asked());
            assertThat(spending.spent()).isLessThanOrEqualTo(most);
            assertThat(report.get().stopped().isPresent())
                    .isNotEqualTo(report.get().isComplete());
        }
        assertThat(asked.get(0)).isZero();
        assertThat(asked.stream().filter(some -> some > 0).count()).isGreaterThan(1);
        assertThat(asked.stream().mapToInt(Integer::intValue).sum())
                .isLessThanOrEqualTo(report.get().candidates().get(0).replies());
    }
}
