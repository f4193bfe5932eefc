package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.HelpEntry;
import dev.waymark.starter.options.WaitingVerb;
import dev.waymark.starter.render.OutcomeRenderer;
import picocli.CommandLine.Command;

/** Waits while a turn is running, but not while the turn waits for a person. Never runs anything again. */
@HelpEntry(group = CommandGroup.LOOK, examples = "result trip --timeout 30s")
@Command(name = "result", description = "Waits for the latest turn, and prints its outcome.")
public final class ResultCommand extends WaitingVerb {
    @Override
    public Integer call() {
        return waiting(client -> {
            return OutcomeRenderer.print(output, client.turn(thread).await());
        });
    }
}
