package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentClient;
import dev.waymark.client.request.DecisionKey;
import dev.waymark.client.request.Settlement;
import dev.waymark.starter.options.ThreadHelp;
import dev.waymark.starter.options.WaitOptions;
import dev.waymark.starter.render.OutcomeRenderer;
import dev.waymark.starter.render.Output;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@HelpEntry(group = CommandGroup.DECIDE, examples = "settle table-9 --call tu_1 --outcome done --result \"receipt 7\"")
@Command(
        name = "settle",
        description = "Settles a call with an unknown outcome, and waits for the outcome of the turn.")
public final class SettleCommand implements Callable<Integer> {
    @Mixin
    private Output output;

    @Mixin
    private WaitOptions wait;

    @Parameters(index = "0", paramLabel = "THREAD", description = ThreadHelp.ID)
    private String thread;

    @Option(names = "--call", paramLabel = "ID", required = true, description = "The call to settle.")
    private String call;

    @Option(
            names = "--outcome",
            paramLabel = "done|rerun|give-up",
            required = true,
            description = "done: the call took effect; rerun: run it again, if its tool allows that; give-up: tell the"
                    + " model that the outcome is unknown.")
    private String outcome;

    @Option(names = "--result", paramLabel = "TEXT", description = "The call's result, with --outcome done.")
    private String result;

    @Option(
            names = "--key",
            paramLabel = "FILE",
            description = "Your private key, if the agent accepts only signed decisions.")
    private Path key;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        Settlement settlement = settlement();
        try (AgentClient client = wait.client(output)) {
            thread = client.lists().find(thread);
            return OutcomeRenderer.print(
                    output,
                    key == null
                            ? client.settle(thread, settlement)
                            : client.settle(thread, settlement, DecisionKey.read(key)));
        }
    }

    private Settlement settlement() {
        Settlement settlement = Settlement.Outcome.named(outcome)
                .map(each -> Settlement.of(call, each))
                .orElseThrow(() -> new ParameterException(
                        spec.commandLine(), "no such outcome: " + outcome + ". Use one of " + outcomes()));
        if (result == null) {
            return settlement;
        }
        if (settlement.outcome() != Settlement.Outcome.DONE) {
            throw new ParameterException(spec.commandLine(), "--result requires --outcome done");
        }
        return settlement.withResult(result);
    }

    private static String outcomes() {
        return Arrays.stream(Settlement.Outcome.values())
                .map(Settlement.Outcome::wireName)
                .collect(Collectors.joining(", "));
    }
}
