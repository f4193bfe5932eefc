package dev.waymark.conversation.state;

import com.fasterxml.jackson.annotation.JsonCreator;

/**
 * Counts of facts applied, model calls made, versions reached, and messages committed. Continue-as-new and clearing
 * keep them. Only a model call that is taken back lowers a count. Ids are derived from the counts, so that replays
 * create the same ids.
 */
public record Counters(int facts, int steps, int versions, int messages) {
    public static final Counters ZERO = new Counters(0, 0, 0, 0);

    @JsonCreator
    public Counters {}

    /** A mutable copy of this part, for applying a fact. */
    public final class Edit {
        public int facts = Counters.this.facts;
        public int steps = Counters.this.steps;
        public int versions = Counters.this.versions;
        public int messages = Counters.this.messages;

        public Counters done() {
            return new Counters(facts, steps, versions, messages);
        }
    }
}
