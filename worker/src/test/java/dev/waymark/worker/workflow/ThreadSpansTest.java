package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.waymark.client.span.ThreadSpans;
import dev.waymark.client.trace.Span;
import dev.waymark.contract.TraceIds;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.history.HistoryReader;
import dev.waymark.history.ProjectedHistory;
import dev.waymark.history.ThreadHistory;
import dev.waymark.timeline.EventPlace;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import dev.waymark.tool.JavaTool;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ThreadSpansTest {
    private static final String CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    record Order(String item) {}

    static List<Path> histories() throws Exception {
        return RecordedHistoriesTest.histories().toList();
    }

    private static Timeline timeline(Path file) throws Exception {
        ThreadHistory thread = ThreadHistory.parse(Files.readString(file));
        var moments = ProjectedHistory.project(thread.runs().get(0).history()).moments();
        return new Timeline(
                thread.thread(),
                "recorded",
                moments,
                moments.get(moments.size() - 1).state(),
                Optional.empty(),
                Optional.empty(),
                0,
                false);
    }

    private static long count(Timeline timeline, String... facts) {
        return timeline.moments().stream()
                .flatMap(moment -> moment.fact().stream())
                .filter(fact -> List.of(facts).contains(fact.type()))
                .count();
    }

    @ParameterizedTest
    @MethodSource("histories")
    void recordedHistory_givesEqualSpansAgain(Path file) throws Exception {
        Timeline timeline = timeline(file);
        TraceIds ids = TraceIds.of("first", Optional.empty());

        List<Span> spans = ThreadSpans.of(timeline, ids, true);

        assertThat(spans).isEqualTo(ThreadSpans.of(timeline, ids, true));
        assertThat(spans).extracting(Span::spanId).doesNotHaveDuplicates();
        assertThat(spans).extracting(Span::traceId).containsOnly(ids.traceId());
        assertThat(spans).allSatisfy(span -> assertThat(span.end()).isAfterOrEqualTo(span.start()));
        assertThat(spans)
                .filteredOn(span -> span.name().startsWith("chat"))
                .hasSizeBetween(
                        (int) count(timeline, "model-replied", "model-failed", "summarised", "summary-failed")
                                - lateReplies(timeline),
                        (int) count(timeline, "model-called", "summary-requested"));
    }

    /** The maximum number of replies that arrived after their turn had ended. */
    private static int lateReplies(Timeline timeline) {
        return (int) count(timeline, "stopped", "cancel-requested", "cleared");
    }

    private static Fact said(String text) {
        return new PersonFact.UserSpoke(Optional.empty(), Optional.empty(), Optional.of(Message.user(text)), false);
    }

    private static Fact replied(int step, String text) {
        return new ModelFact.ModelReplied(step, new Reply(List.of(new Part.Text(text)), new Usage(10, 5), "end_turn"));
    }

    /** A timeline of these facts, one second apart. */
    private static Timeline happened(Optional<Budget> budget, Fact... facts) {
        Instant at = Instant.parse("2026-05-01T09:00:00Z");
        ThreadFact.RunStarted started =
                new ThreadFact.RunStarted(ThreadIdentity.RULES, "helper", false, Optional.empty());
        Conversation state = Rules.start(started, at);
        AgentPolicy agent = new AgentPolicy("helper", 9, Map.of("look", AgentPolicy.Executor.ACTIVITY));
        List<Fact> all = new ArrayList<>(List.of(
                new ThreadFact.AgentRequested(),
                new ThreadFact.AgentResolved(budget.map(agent::withBudget).orElse(agent))));
        all.addAll(List.of(facts));
        List<Moment> moments = new ArrayList<>(List.of(new Moment("r", 1, at, Optional.of(started), state)));
        for (Fact fact : all) {
            at = at.plusSeconds(1);
            state = Rules.apply(state, fact, at);
            moments.add(new Moment("r", moments.size() + 1, at, Optional.of(fact), state));
        }
        return new Timeline("t", "r", moments, state, Optional.empty(), Optional.empty(), 0, false);
    }

    private static List<Object> outcomes(Timeline timeline) {
        return ThreadSpans.of(timeline, TraceIds.of("t", Optional.empty()), false).stream()
                .map(span -> span.attributes().get("waymark.outcome"))
                .filter(Objects::nonNull)
                .toList();
    }

    @Test
    void turnFollowedByAQueuedMessage_hasItsOutcome() {
        Timeline timeline = happened(
                Optional.empty(),
                said("one"),
                new ModelFact.ModelCalled(1),
                said("two"),
                replied(1, "first"),
                new ModelFact.ModelCalled(2),
                replied(2, "second"));

        List<Span> turns = ThreadSpans.of(timeline, TraceIds.of("t", Optional.empty()), true).stream()
                .filter(span -> span.name().startsWith("invoke_agent"))
                .toList();

        assertThat(turns).hasSize(2);
        assertThat(turns)
                .allSatisfy(turn -> assertThat(turn.attributes())
                        .containsEntry("waymark.outcome", "complete")
                        .containsEntry("waymark.iterations", 1L)
                        .containsEntry("gen_ai.usage.output_tokens", 5L));
        assertThat(turns.get(0).attributes().toString()).contains("first");
        assertThat(turns.get(1).attributes().toString()).contains("second");
    }

    @Test
    void turnStoppedByAReplacedConversation_hasItsOutcome() {
        Timeline timeline = happened(
                Optional.empty(),
                said("one"),
                new ModelFact.ModelCalled(1),
                new PersonFact.UserSpoke(
                        Optional.empty(), Optional.of(List.of(Message.user("other"))), Optional.empty(), false));

        assertThat(outcomes(timeline)).containsExactly("stopped");
    }

    @Test
    void turnFollowedByOneThatEndsAtOnce_hasItsOwnOutcome() {
        Timeline timeline = happened(
                Optional.of(new Budget(Optional.empty(), Optional.of(12L))),
                said("one"),
                new ModelFact.ModelCalled(1),
                said("two"),
                replied(1, "first"));
        assertThat(timeline.now().turn().number()).isEqualTo(2);
        assertThat(timeline.now().turn().isRunning()).isFalse();

        assertThat(outcomes(timeline)).containsExactly("complete");
    }

    @Test
    void everySpan_isInTheCallersTraceAndTheToolGetsItsId() {
        List<String> told = new CopyOnWriteArrayList<>();
        JavaTool<?> charge = JavaTool.of("charge", "Charges", Order.class, (order, context) -> {
                    told.add(context.traceparent().orElseThrow());
                    return "charged " + order.item();
                })
                .approval();
        Part.ToolUse call = new Part.ToolUse("tu_1", "charge", Json.of(Map.of("item", "lamp")));
        try (WorkflowRig rig = new WorkflowRig(TestServers.inMemory(), ToolProtocolCases.calling(call), charge)) {
            String thread = rig.start(StartInput.of("a")
                    .closingAfterOneTurn()
                    .tracedBy(Optional.of(CALLER))
                    .saying(PersonFact.UserSpoke.message("m-1", "Buy it")));
            rig.awaitSettled(thread);
            rig.update(thread, SignalNames.APPROVE, Map.of("callId", "tu_1", "by", "ann"));
            Timeline timeline = rig.awaitTimeline(thread, now -> now.ending().isPresent());
            TraceIds ids = new HistoryReader(rig.client()).traceIds(thread, timeline.runId());

            List<Span> spans = ThreadSpans.of(timeline, ids, false);

            List<String> names = new ArrayList<>();
            spans.forEach(span -> names.add(span.name()));
            assertThat(names)
                    .containsExactly(
                            "chat model",
                            "wait approval",
                            "claim charge",
                            "execute_tool charge",
                            "chat model",
                            "invoke_agent a",
                            "thread a");
            Span tool = spans.get(3);
            Span turn = spans.get(5);
            Span root = spans.get(6);
            assertThat(told).containsExactly("00-0af7651916cd43dd8448eb211c80319c-" + tool.spanId() + "-01");
            assertThat(spans).extracting(Span::traceId).containsOnly("0af7651916cd43dd8448eb211c80319c");
            assertThat(root.parentId()).contains("b7ad6b7169203331");
            assertThat(turn.parentId()).contains(root.spanId());
            assertThat(tool.parentId()).contains(turn.spanId());
            assertThat(spans.get(1).parentId()).contains(tool.spanId());
            assertThat(spans.get(1).attributes()).containsEntry("waymark.approved", true);
            assertThat(spans.get(2).parentId()).contains(tool.spanId());
            assertThat(spans.toString()).doesNotContain("lamp").doesNotContain("Buy it");
            assertThat(ThreadSpans.of(timeline, ids, true).toString())
                    .contains("lamp")
                    .contains("Buy it");
        }
    }

    /** The task that applied the step began when the longest call had ended. */
    @Test
    void fusedCalls_haveTheirOwnTimes() {
        Instant at = Instant.parse("2026-05-01T09:00:00Z");
        Timeline begun = happened(Optional.empty(), said("one"), new ModelFact.ModelCalled(1));
        List<Moment> moments = new ArrayList<>(begun.moments());
        Reply reply = Reply.of(
                new Part.ToolUse("tu_1", "look", Json.EMPTY_OBJECT),
                new Part.ToolUse("tu_2", "look", Json.EMPTY_OBJECT));
        List<Fact> facts = List.of(
                new ModelFact.ModelReplied(1, reply),
                new ToolFact.ToolDispatched("tu_1", 1),
                new ToolFact.ToolDispatched("tu_2", 1),
                new ToolFact.ToolFinished("tu_1", 1, "red", false),
                new ToolFact.ToolFinished("tu_2", 1, "blue", false));
        List<Duration> took = List.of(Duration.ofMillis(400), Duration.ofMillis(100));
        Conversation state = begun.now();
        for (int i = 0; i < facts.size(); i++) {
            state = Rules.apply(state, facts.get(i), at.plusSeconds(9));
            moments.add(new Moment(
                    "r",
                    new EventPlace(20, i == facts.size() - 1 ? EventPlace.LAST : i),
                    at.plusSeconds(9),
                    Optional.of(facts.get(i)),
                    state,
                    i < 3 ? Optional.empty() : Optional.of(took.get(i - 3))));
        }
        Timeline timeline = new Timeline("t", "r", moments, state, Optional.empty(), Optional.empty(), 20, false);

        assertThat(ThreadSpans.of(timeline, TraceIds.of("t", Optional.empty()), false))
                .extracting(Span::name, Span::start, Span::end)
                .containsExactly(
                        tuple("chat ", at.plusSeconds(4), at.plusMillis(8_600)),
                        tuple("execute_tool look", at.plusMillis(8_600), at.plusSeconds(9)),
                        tuple("execute_tool look", at.plusMillis(8_600), at.plusMillis(8_700)));
    }
}
