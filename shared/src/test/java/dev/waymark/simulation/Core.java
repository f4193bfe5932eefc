package dev.waymark.simulation;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.Fact;
import java.time.Instant;

/** The rules under test, as an interface so that broken rules can replace them. */
interface Core {
    Conversation apply(Conversation before, Fact fact, Instant at);
}
