package dev.waymark.conversation.policy;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What an agent announces to one receiver.
 *
 * @param receiver the name of a receiver in the settings of the workers, which know its address
 */
public record AnnounceRule(String receiver, List<AnnouncedEvent> events, Reveal reveal) {
    /** The maximum number of receivers of an agent. Each waiting request occupies one activity for each receiver. */
    public static final int MOST_RECEIVERS = 10;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_.-]{1,64}");

    /** What an announcement reveals besides the thread, the agent and the event. */
    public enum Reveal {
        @JsonProperty("nothing")
        NOTHING("nothing"),
        /** The tool, the decision, and who made it. */
        @JsonProperty("tool")
        TOOL("tool"),
        /** The tool, the arguments or the question, the decision, and who made it. */
        @JsonProperty("arguments")
        ARGUMENTS("arguments");

        private final String wireName;

        Reveal(String wireName) {
            this.wireName = wireName;
        }

        /** The name in agent files. */
        public String wireName() {
            return wireName;
        }
    }

    public AnnounceRule {
        misnomer(receiver).ifPresent(words -> {
            throw new IllegalArgumentException(words);
        });
        Objects.requireNonNull(reveal, "reveal");
        events = List.copyOf(events);
    }

    /** Why this is not a valid name of a receiver; empty if it is. */
    public static Optional<String> misnomer(String name) {
        return NAME.matcher(name).matches()
                ? Optional.empty()
                : Optional.of("a receiver's name has 1 to 64 characters A-Z a-z 0-9 _ . -, found " + name);
    }

    /** Announces everything about requests, and reveals the tool. */
    public static AnnounceRule to(String receiver) {
        return new AnnounceRule(receiver, AnnouncedEvent.DEFAULT, Reveal.TOOL);
    }

    /** Announces only these events. */
    public AnnounceRule only(AnnouncedEvent... some) {
        return new AnnounceRule(receiver, List.of(some), reveal);
    }

    /** Reveals this much. */
    public AnnounceRule revealing(Reveal much) {
        return new AnnounceRule(receiver, events, much);
    }

    /** Whether this event is announced to the receiver. */
    public boolean takes(AnnouncedEvent event) {
        return events.contains(event);
    }
}
