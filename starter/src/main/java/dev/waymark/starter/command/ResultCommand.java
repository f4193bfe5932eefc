package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentClient;
import dev.waymark.starter.options.ThreadHelp;
import dev.waymark.starter.options.WaitOptions;
import dev.waymark.starter.render.OutcomeRenderer;
import dev.waymark.starter.render.Output;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Waits while a turn is running, but not while the turn waits for a person. Never runs anything again. */
@HelpEntry(group = CommandGroup.LOOK, examples = "result trip --timeout 30s")
@Command(name = "result", description = "Waits for the latest turn, and prints its outcome.")
public final class ResultCommand implements Callable<Integer> {
    @Mixin
    private Output output;

    @Mixin
    private WaitOptions wait;

    @Parameters(index = "0", paramLabel = "THREAD", description = ThreadHelp.ID)
    private String thread;

    @Override
    public Integer call() {
        try (AgentClient client = wait.client(output)) {
            thread = client.lists().find(thread);
            return OutcomeRenderer.print(output, client.turn(thread).await());
        }
    }
}
