package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentClient;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.starter.connection.ConnectionOptions;
import dev.waymark.starter.render.Output;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Creates the search attributes that the namespace lacks. Safe to repeat. */
@HelpEntry(group = CommandGroup.ROLL_OUT, examples = "setup")
@Command(
        name = "setup",
        description = "Creates the search attributes for threads on a server. Run it once per namespace.")
public final class SetupCommand implements Callable<Integer> {
    @Mixin
    private Output output;

    @Override
    public Integer call() {
        try (AgentClient client = ConnectionOptions.toServer()) {
            List<String> created = client.lists().setUp();
            if (output.isJson()) {
                output.document(JsonDocuments.tree(Map.of("created", created)));
            } else {
                output.line(
                        created.isEmpty()
                                ? "The namespace has all search attributes."
                                : "Created search attributes: " + String.join(", ", created));
            }
            return ExitCode.DONE;
        }
    }
}
