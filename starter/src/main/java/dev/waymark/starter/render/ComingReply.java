package dev.waymark.starter.render;

import dev.waymark.client.watch.TextDelta;

/** What has arrived of a reply. A new model call, or a new attempt at one, replaces it. Not thread-safe. */
public final class ComingReply {
    private String text = "";
    private String reasoning = "";
    private int attempt;
    private long event;

    /** Adds text, and returns what to show. */
    public String said(TextDelta words) {
        follow(words);
        text += words.text();
        return text;
    }

    /** Adds reasoning, and returns what to show. */
    public String reasoned(TextDelta words) {
        follow(words);
        reasoning += words.text();
        return "(thinking) " + reasoning;
    }

    /** The text so far; empty if it is that of another model call. */
    public String text(long ofEvent) {
        return ofEvent == event ? text : "";
    }

    private void follow(TextDelta words) {
        if (words.attempt() != attempt || words.eventId() != event) {
            text = "";
            reasoning = "";
        }
        attempt = words.attempt();
        event = words.eventId();
    }
}
