package dev.waymark.simulation;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.Fact;
import java.time.Instant;

/** The rules under test, so that broken ones can take their place. */
interface Core {
    Conversation apply(Conversation before, Fact fact, Instant at);
}
