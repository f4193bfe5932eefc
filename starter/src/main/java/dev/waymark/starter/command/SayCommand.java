package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.HelpEntry;
import dev.waymark.starter.options.WaitingVerb;
import dev.waymark.starter.render.OutcomeRenderer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@HelpEntry(
        group = CommandGroup.START,
        examples = {"say trip \"For two, please\"", "say trip --retry"})
@Command(
        name = "say",
        description = "Sends a message to a thread, and waits for the outcome of the turn that consumes it.")
public final class SayCommand extends WaitingVerb {
    @Parameters(
            index = "1",
            paramLabel = "MESSAGE",
            arity = "0..1",
            description = "The message to send. Required unless --retry is given.")
    private String message;

    @Option(
            names = "--retry",
            description = "Instead of sending a message, run the last turn again if it failed or was stopped.")
    private boolean retry;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        if (retry == (message != null)) {
            throw new ParameterException(spec.commandLine(), "say needs either MESSAGE or --retry");
        }
        return waiting(client -> {
            return OutcomeRenderer.print(output, (retry ? client.retry(thread) : client.say(thread, message)).await());
        });
    }
}
