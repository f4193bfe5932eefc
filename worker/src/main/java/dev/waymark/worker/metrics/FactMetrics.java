package dev.waymark.worker.metrics;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.thread.CallItem;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Spent;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * Counts events in threads: turns, model calls and their cost, finished tool calls, and waits for people.
 *
 * <p>The workflow reports each fact when it first applies it, so a replay counts nothing. A workflow task that fails
 * and is retried counts its facts twice. Use history for exact numbers, and metrics for graphs and alerts.
 */
public final class FactMetrics {
    private static final String NONE = "none";

    private final MeterRegistry registry;
    private final SpendingCounters spending;

    public FactMetrics(MeterRegistry registry) {
        this.registry = registry;
        this.spending = new SpendingCounters(registry);
        // Creates these series at zero, because an alert on increases would miss the event that creates a series.
        for (ToolSpec.Kind kind : ToolSpec.Kind.values()) {
            unknown(name(kind));
        }
        for (Turn.Status outcome : Turn.Status.values()) {
            if (outcome != Turn.Status.NONE && outcome != Turn.Status.RUNNING) {
                turns(outcome);
            }
        }
    }

    /** Counts what changed when this fact turned {@code before} into {@code after}. */
    public void applied(Conversation before, Fact fact, Conversation after, Optional<AgentSpec> agent) {
        Optional<String> model = agent.map(AgentSpec::model);
        if (fact instanceof ModelFact.ModelReplied replied) {
            replied(replied.reply(), model, "reply");
        } else if (fact instanceof ModelFact.Summarised summarised) {
            replied(summarised.reply(), model, "summary");
        } else if (fact instanceof ModelFact.ModelFailed) {
            ended(model, "reply", "failed");
        } else if (fact instanceof ModelFact.SummaryFailed) {
            ended(model, "summary", "failed");
        }
        countCalls(before, after, agent);
        countTurn(before, fact, after);
    }

    /**
     * Counts a reply and what it cost. {@link AttemptMetrics#wasted} has already counted failed attempts before the
     * reply, under their own models.
     *
     * @param model the agent's own model, for replies that do not name their model
     */
    private void replied(Reply reply, Optional<String> model, String purpose) {
        Optional<String> answered = reply.model().or(() -> model);
        ended(answered, purpose, "replied");
        spending.count(answered.orElse(NONE), new Spent(reply.usage(), reply.cost()));
    }

    private void ended(Optional<String> model, String purpose, String outcome) {
        String name = model.orElse(NONE);
        counter("waymark.model.calls", "Model calls that ended", "model", name, "purpose", purpose, "outcome", outcome)
                .increment();
    }

    /**
     * Counts changes of calls. Compares only the calls of the reply that is the latest before or after the fact,
     * because no other calls change.
     */
    private void countCalls(Conversation before, Conversation after, Optional<AgentSpec> agent) {
        if (before.calls() == after.calls()) {
            return;
        }
        Set<String> changed = new LinkedHashSet<>(before.batch());
        changed.addAll(after.batch());
        for (String id : changed) {
            Optional<Call> was = before.calls().get(id);
            after.calls().get(id).ifPresent(is -> countCall(was, is, kindOf(is.tool(), agent)));
        }
    }

    private void countCall(Optional<Call> was, Call is, String kind) {
        if (is.isOutcomeUnknown() && was.filter(Call::isOutcomeUnknown).isEmpty()) {
            unknown(kind).increment();
        }
        if (was.isEmpty()) {
            // A call of an unknown tool, or with invalid arguments, ends at the moment at which it is issued.
            countEnd(is, kind);
        } else if (was.get().status() != is.status()) {
            moved(was.get(), is, kind);
        }
    }

    private void moved(Call was, Call is, String kind) {
        if (was.isOpen()) {
            countEnd(is, kind);
        }
        if (was.waitsForPerson() && !is.waitsForPerson()) {
            timer("waymark.people.wait", "Time that calls waited for a person", "reason", CallItem.waitName(was))
                    .record(between(was.since(), is.since()));
        }
    }

    private void countEnd(Call call, String kind) {
        if (!call.isOpen()) {
            counter("waymark.tool.calls", "Tool calls that ended", "kind", kind, "outcome", name(call.status()))
                    .increment();
        }
    }

    private static String kindOf(String tool, Optional<AgentSpec> agent) {
        return agent.flatMap(spec -> spec.tool(tool))
                .map(ToolSpec::kind)
                .map(FactMetrics::name)
                .orElse(NONE);
    }

    /** Counts the turns that a fact ended: the one that was running, and one that it started and ended at once. */
    private void countTurn(Conversation before, Fact fact, Conversation after) {
        Turn was = before.turn();
        Turn is = after.turn();
        boolean isNext = is.number() > was.number();
        if (was.isRunning() && isNext) {
            countEnd(after.ended(was, fact).status(), was.startedAt(), after.updatedAt());
        }
        if ((was.isRunning() || isNext) && !is.isRunning()) {
            countEnd(is.status(), is.startedAt(), after.updatedAt());
        }
    }

    private void countEnd(Turn.Status outcome, Instant startedAt, Instant endedAt) {
        turns(outcome).increment();
        timer("waymark.turn", "Time from a turn's message to its end", "outcome", outcome.wireName())
                .record(between(startedAt, endedAt));
    }

    private Counter unknown(String kind) {
        return counter("waymark.tool.unknown", "Tool executions whose outcome is unknown", "kind", kind);
    }

    private Counter turns(Turn.Status outcome) {
        return counter("waymark.turns", "Turns that ended", "outcome", outcome.wireName());
    }

    private static Duration between(Instant from, Instant to) {
        return to.isBefore(from) ? Duration.ZERO : Duration.between(from, to);
    }

    private static String name(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    private Counter counter(String name, String description, String... tags) {
        return Counter.builder(name).description(description).tags(tags).register(registry);
    }

    private Timer timer(String name, String description, String... tags) {
        return Timer.builder(name).description(description).tags(tags).register(registry);
    }
}
