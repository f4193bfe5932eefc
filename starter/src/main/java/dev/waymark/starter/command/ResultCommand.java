package dev.waymark.starter.command;

import dev.waymark.client.AgentClient;
import dev.waymark.starter.options.WaitOptions;
import dev.waymark.starter.render.OutcomeRenderer;
import dev.waymark.starter.render.Output;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Waits while a turn runs, and not while that waits for a person. Nothing is executed again. */
@Command(name = "result", description = "Prints the latest turn's outcome, once it has one.")
public final class ResultCommand implements Callable<Integer> {
    @Mixin
    private Output output;

    @Mixin
    private WaitOptions wait;

    @Parameters(index = "0", paramLabel = "THREAD", description = "The thread.")
    private String thread;

    @Override
    public Integer call() {
        try (AgentClient client = wait.client(output)) {
            thread = client.find(thread);
            return OutcomeRenderer.print(output, client.result(thread));
        }
    }
}
