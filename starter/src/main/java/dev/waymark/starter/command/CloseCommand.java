package dev.waymark.starter.command;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.CommandName;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.connection.ValueText;
import dev.waymark.starter.options.WaitingVerb;
import picocli.CommandLine.Command;

@HelpEntry(group = CommandGroup.END, examples = "close trip")
@Command(name = "close", description = "Closes the thread once it is idle.")
public final class CloseCommand extends WaitingVerb {
    @Override
    public Integer call() {
        return waiting(client -> {
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
        });
    }
}
