package dev.waymark.conversation.call;

import dev.waymark.conversation.value.Problem;
import java.util.Objects;
import java.util.Optional;

/** How a turn ended, for a workflow that waits for it. A long text is cut, because a report is one payload. */
public record TurnEnd(int turn, String status, String text, Optional<Problem> problem) {
    /** The maximum length of the text. */
    public static final int MAX_TEXT = 200_000;

    public TurnEnd {
        Objects.requireNonNull(status, "status");
        text = Problem.cut(text, MAX_TEXT);
    }
}
