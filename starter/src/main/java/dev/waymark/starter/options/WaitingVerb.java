package dev.waymark.starter.options;

import dev.waymark.client.AgentClient;
import java.util.function.ToIntFunction;
import picocli.CommandLine.Mixin;

/** A command about one thread that waits for an outcome, and saves the thread. */
public abstract class WaitingVerb extends ThreadVerb {
    @Mixin
    protected WaitOptions wait;

    /** Sends something to the thread. Returns the exit code. */
    protected final int waiting(ToIntFunction<AgentClient> task) {
        return with(wait.client(output), task);
    }
}
