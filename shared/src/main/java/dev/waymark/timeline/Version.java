package dev.waymark.timeline;

import dev.waymark.annotation.Internal;
import dev.waymark.conversation.Conversation;

/** A numbered version of a thread: a step completed, a turn ended, or a person was asked. */
public record Version(int number, Moment moment) {
    @Internal
    public Conversation state() {
        return moment.state();
    }
}
