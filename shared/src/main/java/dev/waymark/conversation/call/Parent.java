package dev.waymark.conversation.call;

import dev.waymark.conversation.value.Budget;
import java.util.Objects;
import java.util.Optional;

/**
 * The parent of a subagent's thread.
 *
 * @param callId the id of the parent's call that this thread executes
 * @param depth the number of ancestors
 * @param budget what this thread may spend, if an ancestor has a limit
 */
public record Parent(String callId, int depth, Optional<Budget> budget) {
    public Parent {
        Objects.requireNonNull(callId, "callId");
    }
}
