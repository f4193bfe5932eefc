package dev.waymark.worker.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Usage;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FactMetricsTest {
    private static final Instant START = Instant.parse("2026-05-01T09:00:00Z");

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final FactMetrics metrics = new FactMetrics(registry);
    private Conversation state =
            Rules.start(new ThreadFact.RunStarted(ThreadIdentity.RULES, "helper", false, Optional.empty()), START);
    private int seconds;

    /** Applies the facts one second apart, and counts each one. */
    private void happen(Fact... facts) {
        for (Fact fact : facts) {
            seconds++;
            Conversation before = state;
            state = Rules.apply(before, fact, START.plusSeconds(seconds));
            metrics.applied(before, fact, state, Optional.empty());
        }
    }

    private static AgentPolicy agent(int maxIterations) {
        return new AgentPolicy("helper", maxIterations, Map.of("add", AgentPolicy.Executor.ACTIVITY));
    }

    private void begin(AgentPolicy agent) {
        happen(new ThreadFact.AgentRequested(), new ThreadFact.AgentResolved(agent));
    }

    private static Fact said(String text) {
        return new PersonFact.UserSpoke(Optional.empty(), Optional.empty(), Optional.of(Message.user(text)), false);
    }

    private static Reply reply(Part... parts) {
        return new Reply(List.of(parts), new Usage(10, 5), "end_turn");
    }

    private static Fact replied(int step, Part... parts) {
        return new ModelFact.ModelReplied(step, reply(parts));
    }

    private double turns(String outcome) {
        return registry.get("waymark.turns").tag("outcome", outcome).counter().count();
    }

    private double turns() {
        return registry.get("waymark.turns").counters().stream()
                .mapToDouble(Counter::count)
                .sum();
    }

    private double calls(String outcome) {
        return registry.find("waymark.tool.calls").tag("outcome", outcome).counters().stream()
                .mapToDouble(Counter::count)
                .sum();
    }

    @Test
    void turn_followedByAQueuedMessage_isCountedWithItsTime() {
        begin(agent(9));
        happen(said("one"), new ModelFact.ModelCalled(1), said("two"), replied(1, new Part.Text("first")));
        assertThat(state.turn().number()).isEqualTo(2);
        assertThat(turns("complete")).isEqualTo(1);

        happen(new ModelFact.ModelCalled(2), replied(2, new Part.Text("second")));

        assertThat(turns("complete")).isEqualTo(2);
        assertThat(turns()).isEqualTo(2);
        Timer times = registry.get("waymark.turn").tag("outcome", "complete").timer();
        assertThat(times.count()).isEqualTo(2);
        assertThat(times.totalTime(TimeUnit.SECONDS)).isEqualTo(3 + 2);
    }

    @Test
    void turn_stoppedByAReplacedConversation_isCounted() {
        begin(agent(9));
        happen(said("one"), new ModelFact.ModelCalled(1));
        happen(new PersonFact.UserSpoke(
                Optional.empty(), Optional.of(List.of(Message.user("other"))), Optional.empty(), false));

        assertThat(state.turn().isRunning()).isTrue();
        assertThat(turns("stopped")).isEqualTo(1);
        assertThat(turns()).isEqualTo(1);
    }

    @Test
    void turn_endingAtALimitAtOnce_isCounted() {
        begin(agent(0));
        happen(said("one"));

        assertThat(state.turn().isRunning()).isFalse();
        assertThat(turns("max-iterations")).isEqualTo(1);
        assertThat(turns()).isEqualTo(1);
    }

    @Test
    void turn_followedByOneThatEndsAtOnce_isCountedToo() {
        begin(agent(9).withBudget(new Budget(Optional.empty(), Optional.of(12L))));
        happen(said("one"), new ModelFact.ModelCalled(1), said("two"), replied(1, new Part.Text("first")));

        assertThat(state.turn().number()).isEqualTo(2);
        assertThat(state.turn().isRunning()).isFalse();
        assertThat(turns("complete")).isEqualTo(1);
        assertThat(turns("budget")).isEqualTo(1);
        assertThat(turns()).isEqualTo(2);
    }

    @Test
    void calls_endingWhenIssued_areCountedOnce() {
        begin(agent(9));
        Part unknown = new Part.ToolUse("tu_1", "no_such_tool", Json.EMPTY_OBJECT);
        Part invalid = new Part.ToolUse("tu_2", "add", Json.EMPTY_OBJECT);
        happen(
                said("one"),
                new ModelFact.ModelCalled(1),
                new ModelFact.ModelReplied(
                        1, reply(unknown, invalid).withFaults(List.of(new Reply.Fault(1, "n is missing")))));
        assertThat(calls("failed")).isEqualTo(2);

        happen(new ModelFact.ModelCalled(2));

        assertThat(calls("failed")).isEqualTo(2);
    }

    /** Applies whether the outcome is verified, settled by a person, or reported to the model. */
    @ParameterizedTest
    @CsvSource({"true, false", "false, true", "false, false"})
    void unknownOutcome_isCountedOnce(boolean verify, boolean ask) {
        AgentPolicy.ToolPolicy policy =
                new AgentPolicy.ToolPolicy(true, false, false, verify, ask, 60_000, false, false);
        begin(new AgentPolicy(
                "helper", 9, Map.of("add", AgentPolicy.Executor.ACTIVITY), Map.of("add", policy), Optional.empty()));
        happen(
                said("one"),
                new ModelFact.ModelCalled(1),
                replied(1, new Part.ToolUse("tu_1", "add", Json.EMPTY_OBJECT)),
                new ToolFact.ToolDispatched("tu_1", 1));
        Call call = state.calls().get("tu_1").orElseThrow();
        happen(new ToolFact.ToolClaimed("tu_1", 1, "add", call.argsDigest(), 0, "run/1/x", false));
        assertThat(unknown()).isZero();

        happen(new ToolFact.ToolLost("tu_1", 1, new Problem(ProblemType.OUTCOME_UNKNOWN, "HTTP 504")));
        assertThat(unknown()).isEqualTo(1);

        seconds = 200;
        happen(new ThreadFact.TimePassed());
        assertThat(unknown()).isEqualTo(1);
    }

    private double unknown() {
        return registry.get("waymark.tool.unknown").counters().stream()
                .mapToDouble(Counter::count)
                .sum();
    }
}
