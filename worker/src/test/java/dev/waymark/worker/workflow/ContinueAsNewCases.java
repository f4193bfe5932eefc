package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.connect.Connection;
import dev.waymark.contract.RunLimits;
import dev.waymark.contract.message.Ack;
import dev.waymark.contract.message.Refusal;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import dev.waymark.timeline.Version;
import dev.waymark.tool.JavaTool;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.client.WorkflowServiceException;
import io.temporal.client.WorkflowUpdateException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Threads that continue in new runs. */
abstract class ContinueAsNewCases {
    abstract Connection connection();

    static StartInput start(RunLimits limits) {
        return StartInput.of("a").withMaxIterations(Optional.of(100)).withLimits(limits);
    }

    static StartInput movingOnAt(int events) {
        return start(RunLimits.DEFAULT.withSoftEvents(events));
    }

    static List<String> runs(Timeline timeline) {
        return timeline.moments().stream().map(Moment::runId).distinct().toList();
    }

    /** Checks that no fact is lost or applied twice between runs. */
    static void assertFactsAreConsecutive(Timeline timeline, Conversation state) {
        assertThat(timeline.moments().stream()
                        .filter(moment -> moment.fact().isPresent())
                        .map(moment -> moment.state().counters().facts()))
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(1, state.counters().facts())
                                .boxed()
                                .toList());
    }

    /** A model that calls the tool {@code step} this many times, one after the other, always with the same id. */
    static ModelProvider stepping(int times, List<ModelRequest> requests) {
        return request -> {
            requests.add(request);
            long done = request.messages().stream()
                    .mapToLong(message -> message.toolResults().size())
                    .sum();
            Part part = done < times
                    ? new Part.ToolUse("tu", "step", Json.of(Map.of("name", "n" + done)))
                    : new Part.Text("Done");
            return new Reply(List.of(part), new Usage(10, 1), "end_turn");
        };
    }

    static JavaTool<?> stepTool() {
        return JavaTool.of("step", "One step", AgentWorkflowCases.City.class, (city, context) -> "did " + city.name())
                .safeToRetry();
    }

    static String digestOf(List<Message> messages) {
        String digest = Sha256.hex("");
        for (Message message : messages) {
            digest = Sha256.hex(digest + message.canonical());
        }
        return digest;
    }

    @Test
    void longTurn_overManyRuns_isOneConversation() {
        List<ModelRequest> requests = Collections.synchronizedList(new ArrayList<>());
        try (WorkflowRig rig = new WorkflowRig(connection(), stepping(12, requests), stepTool())) {
            String thread = rig.start(movingOnAt(14).saying(PersonFact.UserSpoke.message("m-1", "Go")));

            Conversation state = rig.awaitSettled(thread);

            assertThat(state.turn().status()).isEqualTo(Turn.Status.COMPLETE);
            Timeline timeline = rig.timeline(thread);
            assertThat(runs(timeline)).hasSizeGreaterThan(4);
            assertThat(timeline.cut()).isFalse();
            List<Message> messages = state.transcript().messages();
            assertThat(messages).hasSize(26);
            assertThat(state.transcript().digest()).isEqualTo(digestOf(messages));
            assertThat(requests).hasSize(13);
            for (int i = 0; i < 13; i++) {
                assertThat(requests.get(i).messages()).isEqualTo(messages.subList(0, 1 + 2 * i));
            }
            assertThat(state.calls().toMap().keySet())
                    .containsExactlyInAnyOrderElementsOf(IntStream.rangeClosed(1, 12)
                            .mapToObj(n -> n == 1 ? "tu" : "tu~" + n)
                            .toList());
            assertThat(state.usage())
                    .isEqualTo(new Usage(130, 13))
                    .isEqualTo(state.turn().usage());
            assertThat(state.turn().iterations()).isEqualTo(13);
            assertThat(state.counters().steps()).isEqualTo(13);
            assertThat(state.counters().messages()).isEqualTo(26);
            assertThat(timeline.versions())
                    .extracting(Version::number)
                    .containsExactlyElementsOf(
                            IntStream.rangeClosed(1, state.counters().versions())
                                    .boxed()
                                    .toList());
            assertFactsAreConsecutive(timeline, state);
            assertThat(rig.audit(thread).mismatches()).isEmpty();
            assertThat(rig.audit(thread).modelCalls()).isEqualTo(13);
        }
    }

    @Test
    void nextRunBetweenBatchAndModel_keepsQueuedMessagesInOrder() throws Exception {
        CountDownLatch toolRuns = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        List<ModelRequest> requests = Collections.synchronizedList(new ArrayList<>());
        var step = JavaTool.of("step", "One step", AgentWorkflowCases.City.class, (city, context) -> {
                    toolRuns.countDown();
                    goOn.await(60, TimeUnit.SECONDS);
                    return "late";
                })
                .safeToRetry();
        try (WorkflowRig rig = new WorkflowRig(connection(), stepping(1, requests), step)) {
            String thread = rig.start(movingOnAt(20).saying(PersonFact.UserSpoke.message("m-1", "Go")));
            assertThat(toolRuns.await(60, TimeUnit.SECONDS)).isTrue();
            rig.update(thread, SignalNames.SAY, Map.of("id", "m-2", "content", "First"));
            rig.update(thread, SignalNames.SAY, Map.of("id", "m-3", "content", "Second"));
            goOn.countDown();

            Conversation state = rig.awaitSettled(thread);

            Timeline timeline = rig.timeline(thread);
            assertThat(runs(timeline)).hasSize(2);
            Moment carried = timeline.moments().stream()
                    .filter(moment -> moment.fact().isEmpty())
                    .findFirst()
                    .orElseThrow();
            assertThat(carried.state().turn().isRunning()).isTrue();
            assertThat(carried.state().queue()).hasSize(2);
            assertThat(carried.state().batchCalls()).extracting(Call::status).containsExactly(Call.Status.COMPLETED);
            List<Message> asked = requests.get(requests.size() - 1).messages();
            assertThat(asked.subList(2, asked.size()))
                    .containsExactly(
                            Message.results(List.of(new Part.ToolResult("tu", "late", false))),
                            Message.user("First"),
                            Message.user("Second"));
            assertThat(state.turn().number()).isEqualTo(1);
        }
    }

    @Test
    void openQuestion_isAnsweredInTheNextRunByANewWorker() {
        try (WorkflowRig rig = new WorkflowRig(connection(), AgentWorkflowCases::booking)) {
            String thread = rig.start(movingOnAt(12).saying(PersonFact.UserSpoke.message("m-1", "Book it")));
            rig.await(thread, now -> now.isInterrupted());
            String first = runs(rig.timeline(thread)).get(0);
            rig.awaitTimeline(thread, timeline -> !timeline.runId().equals(first));
            rig.replaceWorker();
            Conversation waiting = rig.awaitSettled(thread);
            assertThat(waiting.questions()).extracting(Call::id).containsExactly("tu_7");

            rig.update(thread, SignalNames.ANSWER, Map.of("answer", "Friday"));

            Conversation state = rig.await(thread, now -> now.turn().status() == Turn.Status.COMPLETE);
            assertThat(state.turn().text()).isEqualTo("Booked for Friday");
            // The state includes events that the workflow has not seen yet. The versions do not.
            int versions = state.counters().versions();
            rig.awaitTimeline(thread, timeline -> timeline.versions().size() == versions);
        }
    }

    @Test
    void messageIds_severalRunsLater_areStillKnown() {
        try (WorkflowRig rig = new WorkflowRig(connection(), AgentWorkflowCases::echo)) {
            String thread = rig.start(movingOnAt(12).saying(PersonFact.UserSpoke.message("m-0", "Hello 0")));
            List<Ack> acks = new ArrayList<>();
            rig.awaitTurn(thread, 1);
            for (int i = 1; i <= 4; i++) {
                acks.add(rig.update(thread, SignalNames.SAY, Map.of("id", "m-" + i, "content", "Hello " + i)));
                rig.awaitTurn(thread, i + 1);
            }
            assertThat(runs(rig.timeline(thread))).hasSizeGreaterThan(2);

            for (int i = 1; i <= 4; i++) {
                Ack again = rig.update(thread, SignalNames.SAY, Map.of("id", "m-" + i, "content", "Hello again"));
                assertThat(again).isEqualTo(new Ack(acks.get(i - 1).fact(), true));
            }
            assertThat(rig.update(thread, SignalNames.SAY, Map.of("id", "m-0", "content", "x"))
                            .duplicate())
                    .isTrue();

            Conversation state = rig.timeline(thread).now();
            assertThat(state.turn().number()).isEqualTo(5);
            assertThat(state.transcript().messages()).hasSize(10);
        }
    }

    @Test
    void stateTooLargeForANewRun_staysInTheSameRun() {
        List<ModelRequest> requests = Collections.synchronizedList(new ArrayList<>());
        try (WorkflowRig rig = new WorkflowRig(connection(), stepping(6, requests), stepTool())) {
            String thread = rig.start(start(RunLimits.DEFAULT
                            .withSoftEvents(12)
                            .withCarriedBytes(100)
                            .withChunkedBytes(0))
                    .saying(PersonFact.UserSpoke.message("m-1", "Go")));

            Conversation state = rig.awaitSettled(thread);

            assertThat(state.turn().status()).isEqualTo(Turn.Status.COMPLETE);
            assertThat(state.full()).isFalse();
            assertThat(runs(rig.timeline(thread))).hasSize(1);
            List<Long> tries = rig.client().fetchHistory(thread).getEvents().stream()
                    .filter(HistoryEvent::hasMarkerRecordedEventAttributes)
                    .map(HistoryEvent::getEventId)
                    .toList();
            assertThat(tries)
                    .as("the state is packed again when the history is twice as long")
                    .hasSizeBetween(1, 3);
        }
    }

    @Test
    void stateTooLargeAtTheHardLimit_failsTheTurnUntilTheThreadIsCleared() {
        byte[] noise = new byte[30_000];
        new Random(7).nextBytes(noise);
        String incompressible = Base64.getEncoder().encodeToString(noise);
        ModelProvider steps = stepping(50, new ArrayList<>());
        ModelProvider model = request -> request.messages().get(0).text().equals("Afresh")
                ? AgentWorkflowCases.echo(request)
                : steps.reply(request);
        try (WorkflowRig rig = new WorkflowRig(connection(), model, stepTool())) {
            RunLimits limits = RunLimits.DEFAULT
                    .withHardEvents(60)
                    .withCarriedBytes(20_000)
                    .withChunkedBytes(0);
            String thread = rig.start(start(limits).saying(PersonFact.UserSpoke.message("m-1", incompressible)));

            Conversation failed = rig.await(thread, now -> now.turn().status() == Turn.Status.FAILED);

            assertThat(failed.turn().problem()).map(Problem::type).contains(ProblemType.TOO_LARGE);
            assertThat(failed.full()).isTrue();
            assertThat(failed.openCalls()).isEmpty();
            assertThat(failed.transcript().messages().get(0)).isEqualTo(Message.user(incompressible));
            assertThat(failed.transcript().digest())
                    .isEqualTo(digestOf(failed.transcript().messages()));
            assertThat(failed.batchCalls())
                    .hasSize(1)
                    .allMatch(call -> call.toolResult().isPresent());
            assertThatThrownBy(() -> rig.update(thread, SignalNames.SAY, Map.of("id", "m-2", "content", "More")))
                    .isInstanceOf(WorkflowUpdateException.class)
                    .satisfies(e -> assertThat(Refusal.parse(AgentWorkflowCases.rootMessage(e))
                                    .type())
                            .isEqualTo(ProblemType.TOO_LARGE));
            rig.stub(thread).signal(SignalNames.SAY, "More by signal");
            Conversation refused = rig.await(thread, now -> now.ignored().count() == 1);
            assertThat(refused.transcript()).isEqualTo(failed.transcript());
            assertThat(runs(rig.timeline(thread))).hasSize(1);

            rig.update(thread, SignalNames.CLEAR, Map.of());
            rig.awaitTimeline(thread, timeline -> runs(timeline).size() == 2);
            rig.update(thread, SignalNames.SAY, Map.of("id", "m-3", "content", "Afresh"));

            Conversation state = rig.awaitTurn(thread, 2);
            assertThat(state.full()).isFalse();
            assertThat(state.turn().text()).isEqualTo("You said: Afresh");
            assertThat(state.transcript().messages()).hasSize(2);
            assertThat(state.counters().versions())
                    .isGreaterThan(failed.counters().versions());
        }
    }

    /** Every sender retries with the same message id until its message is acknowledged. */
    @Test
    void updates_betweenRuns_areAppliedExactlyOnce() throws Exception {
        int senders = 4;
        int each = 8;
        try (WorkflowRig rig = new WorkflowRig(connection(), AgentWorkflowCases::echo)) {
            String thread = rig.start(movingOnAt(14).saying(PersonFact.UserSpoke.message("m-0", "Hello")));
            ExecutorService pool = Executors.newFixedThreadPool(senders);
            List<String> expected = new ArrayList<>(List.of("Hello"));
            try {
                List<Future<Integer>> sending = new ArrayList<>();
                for (int s = 0; s < senders; s++) {
                    List<String> texts = new ArrayList<>();
                    for (int i = 0; i < each; i++) {
                        texts.add("Message " + s + "." + i);
                    }
                    expected.addAll(texts);
                    sending.add(pool.submit(sender(rig, thread, texts)));
                }
                for (Future<Integer> one : sending) {
                    assertThat(one.get(90, TimeUnit.SECONDS)).isEqualTo(each);
                }
            } finally {
                pool.shutdownNow();
            }

            Conversation state =
                    rig.await(thread, now -> now.isSettled() && now.queue().isEmpty());
            assertThat(said(state)).containsExactlyInAnyOrderElementsOf(expected);
            assertThat(runs(rig.timeline(thread))).hasSizeGreaterThan(2);
        }
    }

    static List<String> said(Conversation state) {
        return state.transcript().messages().stream()
                .filter(message -> message.role() == dev.waymark.conversation.message.Role.USER)
                .map(Message::text)
                .toList();
    }

    private static Callable<Integer> sender(WorkflowRig rig, String thread, List<String> texts) {
        return () -> {
            int acknowledged = 0;
            for (String text : texts) {
                boolean arrived = false;
                for (int attempt = 0; attempt < 20 && !arrived; attempt++) {
                    try {
                        rig.update(thread, SignalNames.SAY, Map.of("id", text, "content", text));
                        arrived = true;
                        acknowledged++;
                    } catch (WorkflowServiceException | WorkflowUpdateException e) {
                        // The run was continued as new. The next run accepts the message.
                    }
                }
            }
            return acknowledged;
        };
    }
}
