package dev.waymark.worker.tool.mcp;

import dev.waymark.agent.McpToken;
import dev.waymark.worker.process.CommandResult;
import dev.waymark.worker.process.CommandRunner;
import dev.waymark.worker.process.ProcessFence;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** Runs the program that prints a token. */
final class TokenProgram implements BearerToken.Source {
    private static final Duration LONGEST = Duration.ofSeconds(30);

    private final McpToken program;
    private final Map<String, String> environment;
    private final Path directory;

    TokenProgram(McpToken program, Map<String, String> environment, Path directory) {
        this.program = program;
        this.environment = environment;
        this.directory = directory;
    }

    @Override
    public BearerToken.Issued issue(ProcessFence fence) throws RequestNotSentException, InterruptedException {
        CommandResult result = new CommandRunner(environment)
                .readSecret(program.command(), program.env(), directory, ProcessFence.in(fence.leftUpTo(LONGEST)));
        if (result instanceof CommandResult.Exited exited && exited.code() == 0) {
            return new BearerToken.Issued(exited.stdout().strip(), Optional.empty());
        }
        throw new RequestNotSentException("no token from " + program.command().get(0) + ": " + result.words());
    }
}
