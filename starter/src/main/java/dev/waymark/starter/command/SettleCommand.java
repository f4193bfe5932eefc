package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentClient;
import dev.waymark.client.request.DecisionKey;
import dev.waymark.client.request.Settlement;
import dev.waymark.conversation.decision.CallSettlement.Outcome;
import dev.waymark.conversation.fact.PersonFact.OutcomeSettled;
import dev.waymark.starter.options.WaitingVerb;
import dev.waymark.starter.render.OutcomeRenderer;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@HelpEntry(group = CommandGroup.DECIDE, examples = "settle table-9 --call tu_1 --outcome done --result \"receipt 7\"")
@Command(
        name = "settle",
        description = "Settles a call with an unknown outcome, and waits for the outcome of the turn.")
public final class SettleCommand extends WaitingVerb {
    @Option(names = "--call", paramLabel = "ID", required = true, description = "The call to settle.")
    private String call;

    @Option(
            names = "--outcome",
            paramLabel = "done|not-done|rerun|give-up",
            required = true,
            description =
                    "done: the call took effect; not-done: it did not, and does not run again; rerun: run it again,"
                            + " if its tool allows that; give-up: tell the model that the outcome is unknown.")
    private String outcome;

    @Option(names = "--result", paramLabel = "TEXT", description = "The call's result, with --outcome done.")
    private String result;

    @Option(names = "--by", paramLabel = "WHO", description = "The name of the person who decides.")
    private String by;

    @Option(
            names = "--note",
            paramLabel = "TEXT",
            description =
                    "Evidence for people, such as where you looked. Stored with the call; the model does not see it.")
    private String note;

    @Option(
            names = "--key",
            paramLabel = "FILE",
            description = "Your private key, if the agent accepts only signed decisions.")
    private Path key;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        OutcomeSettled settlement = settlement();
        return waiting(client -> {
            AgentClient signing = key == null ? client : client.signingWith(DecisionKey.read(key));
            return OutcomeRenderer.print(
                    output, signing.settle(thread, settlement).await());
        });
    }

    private OutcomeSettled settlement() {
        Outcome chosen = Outcome.named(outcome)
                .orElseThrow(() -> new ParameterException(
                        spec.commandLine(), "no such outcome: " + outcome + ". Use one of " + Outcome.names()));
        OutcomeSettled plain = Settlement.of(call, chosen);
        OutcomeSettled named = by == null ? plain : plain.withBy(by);
        OutcomeSettled settlement = note == null ? named : named.withNote(note);
        if (result == null) {
            return settlement;
        }
        if (chosen != Outcome.DONE) {
            throw new ParameterException(spec.commandLine(), "--result requires --outcome done");
        }
        return settlement.withResult(result);
    }
}
