package dev.waymark.history;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.Fact;
import java.time.Instant;
import java.util.Optional;

/**
 * A state of a thread, and its cause: the event of the run, and the fact that the event represents. If there is no
 * fact, this is the initial state of a run that continues another one.
 */
public record Moment(String runId, long eventId, Instant at, Optional<Fact> fact, Conversation state) {}
