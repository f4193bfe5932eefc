package dev.waymark.starter.shell;

import dev.waymark.cli.CommandFailure;
import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.HelpEntry;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@HelpEntry(group = CommandGroup.INSTALL, examples = "install")
@Command(name = "install", description = "Links waymark into a directory on PATH and installs completion.")
public final class InstallCommand implements Callable<Integer> {
    @Parameters(
            arity = "0..1",
            paramLabel = "DIR",
            description = "The directory. Default: the first of ~/.local/bin, ~/bin and /usr/local/bin that is on PATH"
                    + " and writable, or ~/.local/bin.")
    private Optional<Path> directory = Optional.empty();

    @Override
    public Integer call() throws CommandFailure {
        throw ScriptCommands.missing("install");
    }
}
