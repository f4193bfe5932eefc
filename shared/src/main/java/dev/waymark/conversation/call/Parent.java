package dev.waymark.conversation.call;

import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.UntrustedWords;
import java.util.Objects;
import java.util.Optional;

/**
 * The parent of a subagent's thread.
 *
 * @param callId the id of the parent's call that this thread executes
 * @param depth the number of ancestors
 * @param budget what this thread may spend, if an ancestor has a limit
 * @param untrusted the untrusted words that this thread has read with its task, if any
 */
public record Parent(String callId, int depth, Optional<Budget> budget, Optional<UntrustedWords> untrusted) {
    public Parent {
        Objects.requireNonNull(callId, "callId");
    }

    public Parent(String callId, int depth, Optional<Budget> budget) {
        this(callId, depth, budget, Optional.empty());
    }
}
