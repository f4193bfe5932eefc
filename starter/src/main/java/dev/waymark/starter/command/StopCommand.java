package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentResult;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.starter.options.WaitingVerb;
import picocli.CommandLine.Command;

@HelpEntry(group = CommandGroup.END, examples = "stop trip")
@Command(name = "stop", description = "Ends the turn. Queued messages stay queued for the next turn.")
public final class StopCommand extends WaitingVerb {
    @Override
    public Integer call() {
        return waiting(client -> {
            AgentResult result = client.stop(thread).await();
            if (output.isJson()) {
                output.document(JsonDocuments.of(result));
            } else {
                output.line(result.status() + ": " + thread);
            }
            return ExitCode.DONE;
        });
    }
}
