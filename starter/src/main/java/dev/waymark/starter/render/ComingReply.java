package dev.waymark.starter.render;

import dev.waymark.client.ThreadEvent;
import java.util.Optional;

/** What has arrived of a reply. A new model call, or a new attempt at one, replaces it. Not thread-safe. */
public final class ComingReply {
    private String text = "";
    private String reasoning = "";
    private int attempt;
    private long event;

    /** Adds text or reasoning, and returns what to show. Returns empty for other events. */
    public Optional<String> add(ThreadEvent event) {
        if (event instanceof ThreadEvent.Said said) {
            follow(said.words());
            text += said.words().text();
            return Optional.of(text);
        }
        if (event instanceof ThreadEvent.Reasoned reasoned) {
            follow(reasoned.words());
            reasoning += reasoned.words().text();
            return Optional.of("(thinking) " + reasoning);
        }
        return Optional.empty();
    }

    /** The text so far; empty if it belongs to another model call. */
    public String text(long ofEvent) {
        return ofEvent == event ? text : "";
    }

    private void follow(ThreadEvent.TextDelta words) {
        if (words.attempt() != attempt || words.eventId() != event) {
            text = "";
            reasoning = "";
        }
        attempt = words.attempt();
        event = words.eventId();
    }
}
