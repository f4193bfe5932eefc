package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentClient;
import dev.waymark.client.request.Approval;
import dev.waymark.starter.options.DecisionOptions;
import dev.waymark.starter.options.ThreadHelp;
import dev.waymark.starter.options.WaitOptions;
import dev.waymark.starter.render.OutcomeRenderer;
import dev.waymark.starter.render.Output;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@HelpEntry(group = CommandGroup.DECIDE, examples = "deny table-9 --reason \"Too expensive\"")
@Command(name = "deny", description = "Denies a call, and waits for the outcome.")
public final class DenyCommand implements Callable<Integer> {
    @Mixin
    private Output output;

    @Mixin
    private WaitOptions wait;

    @Parameters(index = "0", paramLabel = "THREAD", description = ThreadHelp.ID)
    private String thread;

    @Mixin
    private DecisionOptions decision;

    @Override
    public Integer call() {
        try (AgentClient client = wait.client(output)) {
            thread = client.lists().find(thread);
            return OutcomeRenderer.print(output, decision.send(client, thread, decision.on(Approval.deny())));
        }
    }
}
