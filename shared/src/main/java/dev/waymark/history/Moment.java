package dev.waymark.history;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Fact;
import java.time.Instant;
import java.util.Optional;

/**
 * A state of a thread, and what brought it about: the event of its run, and the fact that the event stood for. There is
 * no fact where a run began with the state of the run before.
 */
public record Moment(String runId, long eventId, Instant at, Optional<Fact> fact, Conversation state) {}
