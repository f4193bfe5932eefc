package dev.waymark.conversation.call;

import com.fasterxml.jackson.annotation.JsonIgnore;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.UntrustedWords;
import java.util.Objects;
import java.util.Optional;

/**
 * The parent of a thread: another thread, of which this one is a subagent, or a workflow of another program.
 *
 * @param callId the id of the parent's call that this thread executes; for a workflow of another program, this thread's id
 * @param depth the number of threads above; 0 for a workflow of another program
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

    /** A workflow of another program, which is the parent of this thread. */
    public static Parent workflow(String thread) {
        return new Parent(thread, 0, Optional.empty());
    }

    /** Whether this is a thread, which also receives what waits for people in the thread below. */
    @JsonIgnore
    public boolean isThread() {
        return depth > 0;
    }
}
