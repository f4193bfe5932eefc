package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.request.Approval;
import dev.waymark.starter.options.DecisionOptions;
import dev.waymark.starter.options.WaitingVerb;
import dev.waymark.starter.render.OutcomeRenderer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@HelpEntry(group = CommandGroup.DECIDE, examples = "deny table-9 --reason \"Too expensive\"")
@Command(name = "deny", description = "Denies a call, and waits for the outcome.")
public final class DenyCommand extends WaitingVerb {
    @Mixin
    private DecisionOptions decision;

    @Override
    public Integer call() {
        return waiting(client -> {
            return OutcomeRenderer.print(output, decision.send(client, thread, decision.on(Approval.deny())));
        });
    }
}
