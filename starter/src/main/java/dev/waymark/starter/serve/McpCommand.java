package dev.waymark.starter.serve;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentClient;
import dev.waymark.server.api.AgentCatalog;
import dev.waymark.server.identity.Caller;
import dev.waymark.server.identity.CallerRole;
import dev.waymark.server.mcp.McpPipe;
import dev.waymark.starter.connection.ConnectionOptions;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@HelpEntry(
        group = CommandGroup.SERVE,
        examples = {"mcp", "mcp --agents agents --decide"})
@Command(
        name = "mcp",
        description =
                "Offers each agent as a tool of the Model Context Protocol on stdin and stdout, for the desktop assistant"
                        + " or IDE that starts this command. Ends with stdin; threads continue.")
public final class McpCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(
            names = "--agents",
            paramLabel = "DIR",
            description =
                    "Offer only the agents in this directory, and start no others. Default: all agents that the workers report.")
    private @Nullable Path agents;

    @Option(
            names = "--decide",
            description =
                    "Let the client decide about approvals and unknown outcomes, which it shows to you as forms. Default:"
                            + " it may only talk, and decisions are made elsewhere.")
    private boolean decides;

    @Override
    public Integer call() throws IOException {
        if (agents != null && !Files.isDirectory(agents)) {
            throw new ParameterException(spec.commandLine(), "no agents directory: " + agents);
        }
        try (AgentClient client = ConnectionOptions.toServer();
                InputStream in = new FileInputStream(FileDescriptor.in);
                OutputStream out = new FileOutputStream(FileDescriptor.out)) {
            AgentCatalog catalog =
                    agents == null ? AgentCatalog.ofWorkers(client) : new AgentCatalog(Optional.of(agents));
            McpPipe.serve(client, catalog, caller(), in, out, this::log);
        }
        return ExitCode.DONE;
    }

    /** Anyone who can start commands on this machine can see all threads. */
    private Caller caller() {
        Set<CallerRole> roles = EnumSet.of(CallerRole.TALK, CallerRole.OPERATE);
        if (decides) {
            roles.add(CallerRole.DECIDE);
        }
        return new Caller(Optional.empty(), Set.of(), roles, Optional.empty());
    }

    /** Prints a failure to stderr, because the command line disables loggers. */
    private void log(RuntimeException failure) {
        failure.printStackTrace(spec.commandLine().getErr());
        spec.commandLine().getErr().flush();
    }
}
