package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentResult;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.starter.options.WaitingVerb;
import picocli.CommandLine.Command;

@HelpEntry(group = CommandGroup.END, examples = "cancel trip")
@Command(name = "cancel", description = "Cancels the thread and its running work.")
public final class CancelCommand extends WaitingVerb {
    @Override
    public Integer call() {
        return waiting(client -> {
            AgentResult result = client.cancel(thread).await();
            if (output.isJson()) {
                output.document(JsonDocuments.cancelled(result));
            } else {
                output.line("cancelled: " + thread);
            }
            return ExitCode.DONE;
        });
    }
}
