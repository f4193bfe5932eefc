package dev.waymark.starter.options;

import dev.waymark.client.AgentClient;
import dev.waymark.starter.render.Output;
import java.util.concurrent.Callable;
import java.util.function.ToIntFunction;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** A command about one thread. */
public abstract class ThreadVerb implements Callable<Integer> {
    @Mixin
    protected Output output;

    /** The full id, as soon as a client is there. */
    @Parameters(index = "0", paramLabel = "THREAD", description = ThreadHelp.ID)
    protected String thread;

    /** Reads the thread, also if only its saver has it. Returns the exit code. */
    protected final int reading(ToIntFunction<AgentClient> task) {
        return with(SaverOptions.reader(), task);
    }

    protected final int with(AgentClient opened, ToIntFunction<AgentClient> task) {
        try (AgentClient client = opened) {
            thread = client.lists().find(thread);
            return task.applyAsInt(client);
        }
    }
}
