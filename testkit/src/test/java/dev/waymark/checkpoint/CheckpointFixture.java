package dev.waymark.checkpoint;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.history.Moment;
import dev.waymark.history.Timeline;
import dev.waymark.testkit.GeneratedThread;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Builds a thread fact by fact, one second per fact, and keeps all its moments. */
final class CheckpointFixture {
    static final Instant START = Instant.parse("2026-05-01T09:00:00Z");

    private final List<Moment> moments = new ArrayList<>();
    private Conversation state;

    /** Starts with a resolved agent, and then applies these facts. */
    CheckpointFixture(Fact... facts) {
        ThreadFact.RunStarted started =
                new ThreadFact.RunStarted(ThreadIdentity.RULES, "helper", false, Optional.of(4));
        state = Rules.start(started, START);
        moments.add(new Moment("run-1", 1, START, Optional.of(started), state));
        with(new ThreadFact.AgentRequested(), new ThreadFact.AgentResolved(GeneratedThread.policy()))
                .with(facts);
    }

    CheckpointFixture with(Fact... facts) {
        for (Fact fact : facts) {
            Instant at = START.plusSeconds(moments.size());
            state = Rules.apply(state, fact, at);
            moments.add(new Moment("run-1", moments.size() + 1, at, Optional.of(fact), state));
        }
        return this;
    }

    Conversation state() {
        return state;
    }

    Timeline timeline() {
        return new Timeline(
                "trip",
                "run-1",
                moments,
                state,
                Optional.of(GeneratedThread.AGENT),
                Optional.empty(),
                moments.size(),
                false);
    }
}
