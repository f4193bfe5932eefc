package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.TurnHandle;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.starter.options.WaitingVerb;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@HelpEntry(group = CommandGroup.END, examples = "clear trip --all")
@Command(name = "clear", description = "Deletes the conversation. A running turn is stopped.")
public final class ClearCommand extends WaitingVerb {
    @Option(
            names = "--all",
            description =
                    "Also delete the recorded results of side effects, so that tools with dedupe: session run identical calls"
                            + " again.")
    private boolean all;

    @Override
    public Integer call() {
        return waiting(client -> {
            TurnHandle cleared = all ? client.clearAll(thread) : client.clear(thread);
            if (output.isJson()) {
                output.document(JsonDocuments.of("cleared", cleared));
            } else {
                output.line("cleared: " + thread);
            }
            return ExitCode.DONE;
        });
    }
}
