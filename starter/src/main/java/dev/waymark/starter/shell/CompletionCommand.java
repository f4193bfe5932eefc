package dev.waymark.starter.shell;

import dev.waymark.cli.CommandFailure;
import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.HelpEntry;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@HelpEntry(group = CommandGroup.INSTALL, examples = "completion bash")
@Command(
        name = "completion",
        description = {
            "Prints a completion script: bash, zsh or fish.",
            "`waymark install` writes it where the shell looks for it."
        })
public final class CompletionCommand implements Callable<Integer> {
    @Parameters(paramLabel = "SHELL", description = "bash, zsh or fish.")
    private String shell = "";

    @Override
    public Integer call() throws CommandFailure {
        throw ScriptCommands.missing("completion");
    }
}
