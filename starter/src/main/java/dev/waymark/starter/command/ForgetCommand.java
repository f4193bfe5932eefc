package dev.waymark.starter.command;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.CommandName;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentClient;
import dev.waymark.client.connection.ValueText;
import dev.waymark.display.SafeText;
import dev.waymark.starter.connection.ConnectionOptions;
import dev.waymark.starter.render.Output;
import dev.waymark.starter.terminal.Terminals;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@HelpEntry(
        group = CommandGroup.END,
        examples = {"forget trip", "forget trip --terminate --yes"})
@Command(
        name = "forget",
        description = "Destroys the key of a closed thread, so that nobody can read the thread again, not even in"
                + " backups of the Temporal server. Needs WAYMARK_THREAD_KEYS.")
public final class ForgetCommand implements Callable<Integer> {
    @Mixin
    private Output output;

    @Parameters(index = "0", paramLabel = "THREAD", description = "The full id of the thread.")
    private String thread;

    @Option(names = "--terminate", description = "Terminate the thread and its subagents if they are open.")
    private boolean terminate;

    @Option(names = "--yes", description = "Do not ask for confirmation at a terminal.")
    private boolean yes;

    @Override
    public Integer call() {
        try (AgentClient client = ConnectionOptions.toServer()) {
            if (!yes && output.isForAPerson() && !isConfirmed()) {
                output.note("Nothing was changed.");
                return ExitCode.DONE;
            }
            print(client.forget(thread, terminate));
            return ExitCode.DONE;
        }
    }

    private boolean isConfirmed() {
        return Terminals.isConfirmed(
                "Forget " + SafeText.line(thread) + " and its subagents? Nobody will be able to read them again.");
    }

    private void print(AgentClient.ForgottenThread forgotten) {
        if (output.isJson()) {
            ObjectNode document = JsonNodeFactory.instance.objectNode();
            document.put("status", "forgotten");
            document.put("thread", forgotten.thread());
            document.put("at", forgotten.at().toString());
            document.put("again", forgotten.again());
            forgotten.copies().forEach(document.putArray("copies")::add);
            output.document(document);
            return;
        }
        output.line("forgotten: " + forgotten.thread()
                + (forgotten.again()
                        ? ", already on " + forgotten.at().toString().substring(0, 10)
                        : ""));
        output.note("  Workers and servers that have its key in memory may use it for another minute.");
        output.note("  Checkpoints in savers, files written by export --decrypt, and backups of the keys are not"
                + " affected.");
        if (!forgotten.copies().isEmpty()) {
            output.note("  Threads that began with its conversation have keys of their own. To forget them too:");
            output.note(forgotten.copies().stream()
                    .map(copy -> "    " + CommandName.line("forget " + ValueText.quoted(copy)))
                    .collect(Collectors.joining("\n")));
        }
    }
}
