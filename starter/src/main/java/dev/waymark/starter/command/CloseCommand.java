package dev.waymark.starter.command;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.CommandName;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentClient;
import dev.waymark.client.connection.ValueText;
import dev.waymark.starter.options.ThreadHelp;
import dev.waymark.starter.options.WaitOptions;
import dev.waymark.starter.render.Output;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@HelpEntry(group = CommandGroup.END, examples = "close trip")
@Command(name = "close", description = "Closes the thread once it is idle.")
public final class CloseCommand implements Callable<Integer> {
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
            String status = client.close(thread) ? "closed" : "closing";
            if (output.isJson()) {
                ObjectNode document = JsonNodeFactory.instance.objectNode();
                document.put("status", status);
                document.put("thread", thread);
                output.document(document);
            } else {
                output.line(status + ": " + thread);
                if (status.equals("closing")) {
                    output.note("  once its turn has ended; to cancel it now: "
                            + CommandName.line("cancel " + ValueText.quoted(thread)));
                }
            }
            return ExitCode.DONE;
        }
    }
}
