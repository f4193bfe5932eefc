package dev.waymark.starter.shell;

import dev.waymark.cli.CommandFailure;
import dev.waymark.cli.ExitCode;
import dev.waymark.conversation.value.ProblemType;

/** Reports that the script could not run one of its own commands, because its file is missing. */
final class ScriptCommands {
    private ScriptCommands() {}

    static CommandFailure missing(String command) {
        return new CommandFailure(
                ExitCode.NOT_FOUND,
                ProblemType.NOT_FOUND,
                "no file of the command next to the script ./waymark: shell/" + command + ".sh",
                "Run it in a checkout of Waymark");
    }
}
