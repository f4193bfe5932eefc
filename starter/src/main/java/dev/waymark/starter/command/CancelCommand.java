package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.starter.options.ThreadHelp;
import dev.waymark.starter.options.WaitOptions;
import dev.waymark.starter.render.Output;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@HelpEntry(group = CommandGroup.END, examples = "cancel trip")
@Command(name = "cancel", description = "Cancels the thread and its running work.")
public final class CancelCommand implements Callable<Integer> {
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
            AgentResult result = client.cancel(thread).await();
            if (output.isJson()) {
                output.document(JsonDocuments.cancelled(result));
            } else {
                output.line("cancelled: " + thread);
            }
            return ExitCode.DONE;
        }
    }
}
