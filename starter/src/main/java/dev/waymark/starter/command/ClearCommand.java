package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentClient;
import dev.waymark.client.TurnHandle;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.starter.options.ThreadHelp;
import dev.waymark.starter.options.WaitOptions;
import dev.waymark.starter.render.Output;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@HelpEntry(group = CommandGroup.END, examples = "clear trip --all")
@Command(name = "clear", description = "Deletes the conversation. A running turn is stopped.")
public final class ClearCommand implements Callable<Integer> {
    @Mixin
    private Output output;

    @Mixin
    private WaitOptions wait;

    @Parameters(index = "0", paramLabel = "THREAD", description = ThreadHelp.ID)
    private String thread;

    @Option(
            names = "--all",
            description =
                    "Also delete the recorded results of side effects, so that tools with dedupe: session run identical calls"
                            + " again.")
    private boolean all;

    @Override
    public Integer call() {
        try (AgentClient client = wait.client(output)) {
            thread = client.lists().find(thread);
            TurnHandle cleared = all ? client.clearAll(thread) : client.clear(thread);
            if (output.isJson()) {
                output.document(JsonDocuments.of("cleared", cleared));
            } else {
                output.line("cleared: " + thread);
            }
            return ExitCode.DONE;
        }
    }
}
