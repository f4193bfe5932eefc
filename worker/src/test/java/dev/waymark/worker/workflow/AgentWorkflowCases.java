package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.Pricing;
import dev.waymark.connect.Connection;
import dev.waymark.contract.message.Ack;
import dev.waymark.contract.message.Refusal;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Summary;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.ReplyListener;
import dev.waymark.testkit.RecordingTool;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import dev.waymark.tool.InterruptException;
import dev.waymark.tool.JavaTool;
import dev.waymark.tool.ToolArguments;
import dev.waymark.worker.inbound.InlineText;
import io.temporal.api.enums.v1.EventType;
import io.temporal.client.WorkflowFailedException;
import io.temporal.client.WorkflowUpdateException;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Tests of threads that apply to every server. */
abstract class AgentWorkflowCases {
    abstract Connection connection();

    record City(String name) {}

    /** A model that asks which day, and then books that day. */
    static Reply booking(ModelRequest request) {
        List<Message> messages = request.messages();
        Message last = messages.get(messages.size() - 1);
        if (last.toolResults().isEmpty()) {
            return Reply.of(ask("tu_7", "Which day?"));
        }
        return Reply.of(new Part.Text("Booked for " + last.toolResults().get(0).content()));
    }

    static Part.ToolUse ask(String id, String question) {
        return new Part.ToolUse(id, "ask_user", Json.of(Map.of("question", question)));
    }

    static Reply echo(ModelRequest request) {
        List<Message> messages = request.messages();
        return Reply.of(
                new Part.Text("You said: " + messages.get(messages.size() - 1).text()));
    }

    @Test
    void question_answered_completesTheTurn() {
        try (WorkflowRig rig = new WorkflowRig(connection(), AgentWorkflowCases::booking)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Book it")));
            assertThat(rig.awaitSettled(thread).isInterrupted()).isTrue();

            rig.update(thread, SignalNames.ANSWER, Map.of("answer", "Friday"));

            Conversation state = rig.await(thread, now -> !now.turn().isRunning());
            assertThat(state.turn().text()).isEqualTo("Booked for Friday");
            assertThat(state.turn().iterations()).isEqualTo(2);
        }
    }

    @Test
    void runWithoutThread_turnEnds_closesWithItsOutcome() {
        try (WorkflowRig rig = new WorkflowRig(connection(), AgentWorkflowCases::echo)) {
            String thread = rig.start(
                    StartInput.of("a").closingAfterOneTurn().saying(PersonFact.UserSpoke.message("m-1", "Hello")));

            RunOutcome outcome = rig.stub(thread).getResult(RunOutcome.class);

            assertThat(outcome.status()).isEqualTo("complete");
            assertThat(outcome.text()).isEqualTo("You said: Hello");
        }
    }

    @Test
    void permanentModelFailure_thenMessage_continuesWithoutLoss() {
        AtomicInteger calls = new AtomicInteger();
        ModelProvider flaky = request -> {
            if (calls.incrementAndGet() == 1) {
                throw ModelFailure.permanent("InsufficientQuota", "You have no credit left.");
            }
            return echo(request);
        };
        try (WorkflowRig rig = new WorkflowRig(connection(), flaky)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Hello")));
            Conversation failed = rig.await(thread, now -> now.turn().status() == Turn.Status.FAILED);
            assertThat(failed.turn().problem()).contains(new Problem("InsufficientQuota", "You have no credit left."));

            rig.update(thread, SignalNames.SAY, Map.of("id", "m-2", "content", "Still there?"));

            Conversation state = rig.await(thread, now -> now.turn().status() == Turn.Status.COMPLETE);
            assertThat(state.transcript().messages())
                    .containsExactly(
                            Message.user("Hello"),
                            Message.user("Still there?"),
                            Message.assistant(new Part.Text("You said: Still there?")));
            assertThat(calls).hasValue(2);
        }
    }

    @Test
    void failedTurn_retried_callsTheModelWithTheSameConversation() {
        AtomicInteger calls = new AtomicInteger();
        ModelProvider flaky = request -> {
            if (calls.incrementAndGet() == 1) {
                throw ModelFailure.permanent("InvalidRequest", "Nope.");
            }
            return echo(request);
        };
        try (WorkflowRig rig = new WorkflowRig(connection(), flaky)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Hello")));
            rig.await(thread, now -> now.turn().status() == Turn.Status.FAILED);

            rig.update(thread, SignalNames.SAY, Map.of("id", "m-2", "retry", true));

            Conversation state = rig.await(thread, now -> now.turn().status() == Turn.Status.COMPLETE);
            assertThat(state.turn().text()).isEqualTo("You said: Hello");
        }
    }

    private static AgentSpec.Builder costly(AgentSpec.Builder agent) {
        return agent.pricing(Pricing.of("1000", "3000")).maxIterations(100);
    }

    private static Usd usd(String dollars) {
        return Usd.of(new BigDecimal(dollars));
    }

    @Test
    void failedAttempts_withReportedUsage_areCharged() {
        AtomicInteger attempts = new AtomicInteger();
        ModelProvider provider = new ModelProvider() {
            @Override
            public Reply reply(ModelRequest request) {
                throw new IllegalStateException("asked without a listener");
            }

            @Override
            public Reply reply(ModelRequest request, ReplyListener listener) throws ModelFailure {
                listener.usage(new Usage(100, 0));
                if (attempts.incrementAndGet() < 3) {
                    throw ModelFailure.passing("StreamCut", "It broke off.");
                }
                return new Reply(List.of(new Part.Text("Done.")), new Usage(100, 10), "end_turn");
            }
        };
        try (WorkflowRig rig = new WorkflowRig(connection(), provider).with(AgentWorkflowCases::costly)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Hello")));

            Conversation state = rig.await(thread, now -> now.turn().status() == Turn.Status.COMPLETE);
            assertThat(state.spent()).isEqualTo(new Spent(new Usage(300, 10), Optional.of(usd("0.33"))));
        }
    }

    @Test
    void failedCall_withReportedUsage_isCharged() {
        ModelProvider provider = new ModelProvider() {
            @Override
            public Reply reply(ModelRequest request) {
                throw new IllegalStateException("asked without a listener");
            }

            @Override
            public Reply reply(ModelRequest request, ReplyListener listener) throws ModelFailure {
                listener.usage(new Usage(100, 1));
                throw ModelFailure.permanent("Refused", "I won't.");
            }
        };
        try (WorkflowRig rig = new WorkflowRig(connection(), provider).with(AgentWorkflowCases::costly)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Hello")));

            Conversation state = rig.await(thread, now -> now.turn().status() == Turn.Status.FAILED);
            assertThat(state.spent()).isEqualTo(new Spent(new Usage(100, 1), Optional.of(usd("0.103"))));
        }
    }

    @Test
    void loopingModel_budgetSpent_stopsAndContinuesWithMore() {
        AtomicInteger calls = new AtomicInteger();
        ModelProvider looping = request -> new Reply(
                List.of(new Part.ToolUse("ls_" + calls.incrementAndGet(), "ls", Json.EMPTY_OBJECT)),
                new Usage(10, 5),
                "tool_use");
        Budget quarter = new Budget(Optional.of(usd("0.25")), Optional.empty());
        try (WorkflowRig rig = new WorkflowRig(connection(), looping)
                .with(agent -> costly(agent).budget(quarter))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Hello")));
            Conversation spent = rig.await(thread, now -> now.turn().status() == Turn.Status.BUDGET);
            assertThat(spent.cost()).contains(usd("0.25"));
            rig.replaceWorker();

            rig.update(thread, SignalNames.BUDGET, Map.of("usd", 0.3));

            Conversation more = rig.await(thread, now -> now.cost().equals(Optional.of(usd("0.3"))));
            assertThat(more.turn().status()).isEqualTo(Turn.Status.BUDGET);
            assertThat(more.turn().number()).isEqualTo(1);
            assertThat(calls).hasValue(12);
        }
    }

    /**
     * A model that writes summaries, reports 60 tokens for every call, and otherwise repeats the messages that it got.
     */
    static Reply forgetful(ModelRequest request) {
        boolean summary = request.instructions().equals(Optional.of(Summary.INSTRUCTIONS));
        String words = summary
                ? "They talked."
                : "I see " + request.messages().stream().map(Message::text).toList();
        return new Reply(List.of(new Part.Text(words)), new Usage(50, 10), "");
    }

    @Test
    void longConversation_isSummarizedAndEarlierVersionsStayWhole() {
        AtomicInteger summaries = new AtomicInteger();
        ModelProvider model = request -> {
            if (request.tools().isEmpty() && summaries.incrementAndGet() == 1) {
                throw ModelFailure.passing("Overloaded", "Try later.");
            }
            return forgetful(request);
        };
        try (WorkflowRig rig =
                new WorkflowRig(connection(), model).with(agent -> agent.summaries(new SummaryRule(60, 1)))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "One")));
            rig.awaitTurn(thread, 1);

            rig.update(thread, SignalNames.SAY, Map.of("id", "m-2", "content", "Two"));
            rig.await(thread, Conversation::isSummarizing);
            rig.replaceWorker();

            Conversation state = rig.awaitTurn(thread, 2);
            Message summary = Message.user(
                    "[Previous conversation summary]\nThey talked.\n" + "[End of summary - recent messages follow]");
            assertThat(state.transcript().messages())
                    .containsExactly(
                            summary,
                            Message.user("Two"),
                            Message.assistant(new Part.Text("I see [" + summary.text() + ", Two]")));
            assertThat(state.turn().iterations()).isEqualTo(1);
            assertThat(state.usage()).isEqualTo(new Usage(150, 30));
            Timeline timeline = rig.awaitTimeline(thread, now -> now.versions().size() == 3);
            assertThat(timeline.versions().stream()
                            .map(version -> version.state().transcript().count()))
                    .containsExactly(2, 2, 3);
            assertThat(summaries).hasValue(2);
        }
    }

    @Test
    void finalReply_notMatchingItsSchema_isRequestedOnceMore() {
        List<ModelRequest> requests = new CopyOnWriteArrayList<>();
        ModelProvider model = request -> {
            requests.add(request);
            return Reply.of(new Part.Text(requests.size() == 1 ? "Three" : "```json\n{\"n\": 3}\n```"));
        };
        Json schema = Json.of(Map.of(
                "type", "object", "required", List.of("n"), "properties", Map.of("n", Map.of("type", "integer"))));
        try (WorkflowRig rig = new WorkflowRig(connection(), model)) {
            String thread = rig.start(StartInput.of("a")
                    .saying(PersonFact.UserSpoke.message("m-1", "How many?").withSchema(schema)));

            Conversation state = rig.awaitTurn(thread, 1);

            assertThat(state.turn().structured()).contains(Json.of(Map.of("n", 3)));
            assertThat(requests)
                    .hasSize(2)
                    .allMatch(request -> request.messages().get(0).text().contains("\"required\": [\"n\"]"));
        }
    }

    @Test
    void invalidSchema_failsTheTurnBeforeAModelIsCalled() {
        AtomicInteger calls = new AtomicInteger();
        ModelProvider model = request -> {
            calls.incrementAndGet();
            return echo(request);
        };
        Json schema = Json.of(Map.of("type", "many"));
        try (WorkflowRig rig = new WorkflowRig(connection(), model)) {
            String thread = rig.start(StartInput.of("a")
                    .saying(PersonFact.UserSpoke.message("m-1", "How many?").withSchema(schema)));

            Conversation state = rig.await(thread, now -> now.turn().status() == Turn.Status.FAILED);

            assertThat(state.turn().problem().orElseThrow().message()).startsWith("the schema is not a JSON Schema: ");
            assertThat(calls).hasValue(0);
        }
    }

    @Test
    void temporaryModelFailure_isRetriedByTemporal() {
        AtomicInteger calls = new AtomicInteger();
        ModelProvider flaky = request -> {
            if (calls.incrementAndGet() < 3) {
                throw ModelFailure.passing("Overloaded", "Try later.");
            }
            return echo(request);
        };
        try (WorkflowRig rig = new WorkflowRig(connection(), flaky)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Hello")));

            rig.await(thread, now -> now.turn().status() == Turn.Status.COMPLETE);

            assertThat(calls).hasValue(3);
            assertThat(count(rig, thread, EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED))
                    .isEqualTo(2);
        }
    }

    @Test
    void parallelCalls_oneAsks_siblingsKeepTheirResultsInCallOrder() {
        ModelProvider model = request -> request.messages().size() > 1
                ? Reply.of(new Part.Text("Done"))
                : Reply.of(
                        new Part.ToolUse("tu_1", "weather", Json.of(Map.of("name", "Oslo"))),
                        ask("tu_2", "Which one?"),
                        new Part.ToolUse("tu_3", "weather", Json.of(Map.of("name", "Rome"))),
                        new Part.ToolUse("tu_4", "nothing", Json.EMPTY_OBJECT));
        var weather = JavaTool.of("weather", "The weather", City.class, (city, context) -> city.name() + ": sunny")
                .safeToRetry();
        try (WorkflowRig rig = new WorkflowRig(connection(), model, weather)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Weather?")));
            Conversation waiting = rig.awaitSettled(thread);
            assertThat(waiting.questions()).extracting(Call::id).containsExactly("tu_2");

            rig.update(thread, SignalNames.ANSWER, Map.of("callId", "tu_2", "answer", "Both"));

            Conversation state = rig.await(thread, now -> now.turn().status() == Turn.Status.COMPLETE);
            assertThat(state.transcript().messages().get(2).toolResults())
                    .containsExactly(
                            new Part.ToolResult("tu_1", "Oslo: sunny", false),
                            new Part.ToolResult("tu_2", "Both", false),
                            new Part.ToolResult("tu_3", "Rome: sunny", false),
                            new Part.ToolResult(
                                    "tu_4",
                                    "Tool \"nothing\" not found. Available tools: ask_user, write_todos, write_plan, ls, read_file, write_file,"
                                            + " edit_file, weather",
                                    true));
        }
    }

    @Test
    void invalidArguments_areTheResult() {
        ModelProvider model = request -> request.messages().size() > 1
                ? Reply.of(new Part.Text("Done"))
                : Reply.of(new Part.ToolUse("tu_1", "weather", Json.of(Map.of("name", 5))));
        var weather = JavaTool.of("weather", "The weather", City.class, (city, context) -> "sunny")
                .safeToRetry();
        try (WorkflowRig rig = new WorkflowRig(connection(), model, weather)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Weather?")));

            Conversation state = rig.await(thread, now -> now.turn().status() == Turn.Status.COMPLETE);

            assertThat(state.transcript().messages().get(2).toolResults().get(0).content())
                    .startsWith("Invalid input for tool \"weather\": ");
        }
    }

    @Test
    void javaToolThatHangs_isInterruptedAtItsTimeout() {
        ModelProvider model = request -> request.messages().size() > 1
                ? Reply.of(new Part.Text("Done"))
                : Reply.of(new Part.ToolUse("tu_1", "hang", Json.of(Map.of("name", "x"))));
        var hang = JavaTool.of("hang", "Hangs", City.class, (city, context) -> {
                    Thread.sleep(60_000);
                    return "never";
                })
                .safeToRetry()
                .timeout(Duration.ofSeconds(1));
        try (WorkflowRig rig = new WorkflowRig(connection(), model, hang)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Go")));

            Conversation state = rig.await(thread, now -> now.turn().status() == Turn.Status.COMPLETE);

            assertThat(state.transcript().messages().get(2).toolResults())
                    .containsExactly(new Part.ToolResult("tu_1", "Tool error: timed out after 1s", true));
        }
    }

    /**
     * The question is longer than the server accepts. Without a cut, the tool would have run and its question would be
     * lost.
     */
    @Test
    void javaToolWithALongQuestion_asksWhatFits() {
        ModelProvider model = request -> Reply.of(new Part.ToolUse("tu_1", "ask_much", Json.of(Map.of("name", "x"))));
        var asker = JavaTool.of("ask_much", "Asks", City.class, (city, context) -> {
            throw new InterruptException("Which? ".repeat(500_000));
        });
        try (WorkflowRig rig = new WorkflowRig(connection(), model, asker)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Go")));

            Conversation state = rig.awaitSettled(thread);

            assertThat(state.questions()).hasSize(1);
            assertThat(state.questions().get(0).question().orElseThrow())
                    .startsWith("Which? ")
                    .contains("[cut: ")
                    .hasSizeLessThanOrEqualTo(InlineText.LIMIT_BYTES);
        }
    }

    @Test
    void messageDuringATurn_joinsBeforeTheNextModelCall() throws Exception {
        CountDownLatch toolRuns = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        ModelProvider model = request -> request.messages().size() > 1
                ? Reply.of(new Part.Text("Done"))
                : Reply.of(new Part.ToolUse("tu_1", "slow", Json.of(Map.of("name", "x"))));
        var slow = JavaTool.of("slow", "Takes its time", City.class, (city, context) -> {
                    toolRuns.countDown();
                    goOn.await(60, TimeUnit.SECONDS);
                    return "late";
                })
                .safeToRetry();
        try (WorkflowRig rig = new WorkflowRig(connection(), model, slow)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Go")));
            toolRuns.await(60, TimeUnit.SECONDS);

            rig.update(thread, SignalNames.SAY, Map.of("id", "m-2", "content", "And hurry"));
            goOn.countDown();

            Conversation state = rig.await(thread, now -> now.turn().status() == Turn.Status.COMPLETE);
            assertThat(state.turn().number()).isEqualTo(1);
            assertThat(state.transcript().messages().subList(2, 4))
                    .containsExactly(
                            Message.results(List.of(new Part.ToolResult("tu_1", "late", false))),
                            Message.user("And hurry"));
        }
    }

    @Test
    void stop_whileAToolRuns_cancelsItAndKeepsTheThread() throws Exception {
        CountDownLatch toolRuns = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        ModelProvider model = request -> request.messages().size() > 1
                ? Reply.of(new Part.Text("Done"))
                : Reply.of(new Part.ToolUse("tu_1", "slow", Json.of(Map.of("name", "x"))));
        var slow = JavaTool.of("slow", "Takes its time", City.class, (city, context) -> {
                    toolRuns.countDown();
                    try {
                        Thread.sleep(120_000);
                    } catch (InterruptedException e) {
                        interrupted.countDown();
                        throw e;
                    }
                    return "late";
                })
                .safeToRetry();
        try (WorkflowRig rig = new WorkflowRig(connection(), model, slow).with(agent -> agent.fuse(Duration.ZERO))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Go")));
            toolRuns.await(60, TimeUnit.SECONDS);

            rig.update(thread, SignalNames.STOP, Map.of("by", "ann"));

            Conversation stopped = rig.awaitSettled(thread);
            assertThat(stopped.turn().status()).isEqualTo(Turn.Status.STOPPED);
            assertThat(interrupted.await(60, TimeUnit.SECONDS)).isTrue();
            rig.update(thread, SignalNames.SAY, Map.of("id", "m-2", "content", "Go on"));
            Conversation state = rig.await(thread, now -> now.turn().status() == Turn.Status.COMPLETE);
            assertThat(state.transcript().messages().get(2).toolResults())
                    .containsExactly(new Part.ToolResult("tu_1", "Cancelled by ann.", true));
        }
    }

    /** Checking all calls would take minutes. */
    @Test
    void stop_whileArgumentsAreChecked_endsTheCheck() throws Exception {
        Json schema =
                Json.of(Map.of("type", "object", "properties", Map.of("a", Map.of("pattern", "^a*a*a*a*a*a*a*b$"))));
        Part[] calls = IntStream.range(0, 5_000)
                .mapToObj(i -> new Part.ToolUse("tu_" + i, "check", Json.of(Map.of("a", "a".repeat(100)))))
                .toArray(Part[]::new);
        RecordingTool tool = RecordingTool.of("check", 1).with(spec -> spec.describedAs("Checks", schema));
        try (WorkflowRig rig = new WorkflowRig(connection(), request -> Reply.of(calls), tool)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Go")));
            Awaitility.await().atMost(Duration.ofMinutes(1)).until(AgentWorkflowCases::isCheckingArguments);

            rig.update(thread, SignalNames.STOP, Map.of("by", "ann"));

            assertThat(rig.awaitSettled(thread).turn().status()).isEqualTo(Turn.Status.STOPPED);
            Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> !isCheckingArguments());
        }
    }

    private static boolean isCheckingArguments() {
        return Thread.getAllStackTraces().values().stream()
                .flatMap(Arrays::stream)
                .anyMatch(frame -> frame.getClassName().equals(ToolArguments.class.getName()));
    }

    @Test
    void cancel_whileWaitingForAPerson_closesCancelled() {
        try (WorkflowRig rig = new WorkflowRig(connection(), AgentWorkflowCases::booking)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Book it")));
            rig.awaitSettled(thread);

            rig.stub(thread).cancel();

            assertThatThrownBy(() -> rig.stub(thread).getResult(RunOutcome.class))
                    .isInstanceOf(WorkflowFailedException.class);
            Conversation state = rig.timeline(thread).now();
            assertThat(state.turn().status()).isEqualTo(Turn.Status.CANCELLED);
            assertThat(state.openCalls()).isEmpty();
        }
    }

    @Test
    void invalidUpdate_isRefusedWithAReasonAndLeavesNoTrace() {
        try (WorkflowRig rig = new WorkflowRig(connection(), AgentWorkflowCases::echo)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Hello")));
            Conversation before = rig.awaitSettled(thread);

            assertThatThrownBy(() -> rig.update(thread, SignalNames.ANSWER, Map.of("answer", "Friday")))
                    .isInstanceOf(WorkflowUpdateException.class)
                    .satisfies(e -> assertThat(Refusal.parse(rootMessage(e)))
                            .isEqualTo(new Problem(ProblemType.NOT_FOUND, "no question is open")));

            assertThat(rig.timeline(thread).now().counters()).isEqualTo(before.counters());
        }
    }

    @Test
    void sameMessageTwice_isAcknowledgedAsDuplicate() {
        try (WorkflowRig rig = new WorkflowRig(connection(), AgentWorkflowCases::echo)) {
            String thread = rig.start(StartInput.of("a"));
            Ack first = rig.update(thread, SignalNames.SAY, Map.of("id", "m-1", "content", "Hello"));
            Ack second = rig.update(thread, SignalNames.SAY, Map.of("id", "m-1", "content", "Hello"));

            assertThat(second).isEqualTo(new Ack(first.fact(), true));
            Conversation state = rig.awaitSettled(thread);
            assertThat(state.turn().number()).isEqualTo(1);
        }
    }

    @Test
    void secondWorker_takesOverInTheMiddle() {
        try (WorkflowRig rig = new WorkflowRig(connection(), AgentWorkflowCases::booking)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Book it")));
            rig.awaitSettled(thread);

            rig.replaceWorker();
            rig.update(thread, SignalNames.ANSWER, Map.of("answer", "Friday"));

            Conversation state = rig.await(thread, now -> now.turn().status() == Turn.Status.COMPLETE);
            assertThat(state.turn().text()).isEqualTo("Booked for Friday");
        }
    }

    /**
     * The digest of the transcript shows the order in which the worker applied the update and the signal. History must
     * show the same order.
     */
    @Test
    void updateAndSignal_withoutAWorker_areAppliedInHistoryOrder() {
        try (WorkflowRig rig = new WorkflowRig(connection(), AgentWorkflowCases::echo)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Hello")));
            rig.awaitTurn(thread, 1);
            rig.suspend();

            CompletableFuture<Ack> updated =
                    rig.updateWithoutWorker(thread, SignalNames.SAY, Map.of("id", "m-2", "content", "By update"));
            rig.stub(thread).signal(SignalNames.SAY, Map.of("id", "m-3", "content", "By signal"));
            rig.resume();

            Conversation state = rig.awaitTurn(thread, 2);
            assertThat(state.turn().problem()).isEmpty();
            assertThat(state.transcript().messages()).contains(Message.user("By update"), Message.user("By signal"));
            assertThat(updated.join().duplicate()).isFalse();
        }
    }

    @Test
    void everyVersion_canBeProjected() {
        try (WorkflowRig rig = new WorkflowRig(connection(), AgentWorkflowCases::booking)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Book it")));
            rig.awaitSettled(thread);
            rig.update(thread, SignalNames.ANSWER, Map.of("answer", "Friday"));
            // The projection is ahead of the workflow until the next workflow task, so wait until the workflow has
            // caught up.
            Timeline timeline = Awaitility.await()
                    .until(() -> rig.timeline(thread), now -> now.versions().size() == 3);

            assertThat(timeline.at("e" + (timeline.lastEventId() + 1))).isEmpty();
            assertThat(timeline.versions()).allSatisfy(version -> {
                Moment moment = version.moment();
                assertThat(timeline.at("e" + moment.eventId())).contains(moment);
                assertThat(timeline.at(moment.runId() + "/e" + moment.eventId()))
                        .contains(moment);
                assertThat(timeline.at("" + version.number())).contains(moment);
            });
        }
    }

    static long count(WorkflowRig rig, String thread, EventType type) {
        return rig.client().fetchHistory(thread).getEvents().stream()
                .filter(event -> event.getEventType() == type)
                .count();
    }

    static String rootMessage(Throwable e) {
        Throwable cause = e;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause instanceof io.temporal.failure.ApplicationFailure failure
                ? failure.getOriginalMessage()
                : cause.getMessage();
    }
}
