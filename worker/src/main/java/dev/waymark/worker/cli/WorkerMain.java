package dev.waymark.worker.cli;

import dev.waymark.cli.ErrorRenderer;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The commands of {@code ./waymark} that run agents. */
@Command(
        name = "waymark",
        description = "Runs LLM agents as Temporal workflows: the worker's commands.",
        mixinStandardHelpOptions = true,
        scope = ScopeType.INHERIT,
        subcommands = {
            WorkerCommand.class,
            DevCommand.class,
            AgentsCommand.class,
            ToolsCommand.class,
            WorkerWarmUp.class,
            DescribeWorkerCommands.class
        },
        versionProvider = WorkerMain.Version.class)
public final class WorkerMain implements Runnable {

    private static final String LOGGING = "logback.configurationFile";

    @Spec
    private CommandSpec spec;

    public static void main(String[] args) {
        configureLogging();
        CommandLine waymark = commandLine().setOut(writer(FileDescriptor.out)).setErr(writer(FileDescriptor.err));
        System.exit(waymark.execute(args));
    }

    /**
     * The configuration is not named {@code logback.xml}, which Logback would find in programs that use this library.
     */
    private static void configureLogging() {
        if (System.getProperty(LOGGING) == null) {
            System.setProperty(LOGGING, "dev/waymark/worker/cli/logging.xml");
        }
    }

    /** The output is UTF-8 in every locale. */
    private static PrintWriter writer(FileDescriptor to) {
        return new PrintWriter(new OutputStreamWriter(new FileOutputStream(to), StandardCharsets.UTF_8), true);
    }

    static CommandLine commandLine() {
        return ErrorRenderer.install(new CommandLine(new WorkerMain()).setExpandAtFiles(false), CommandFailure::of);
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "no command");
    }

    static final class Version implements CommandLine.IVersionProvider {
        @Override
        public String[] getVersion() {
            // Missing if the classes are not packaged.
            String version = Optional.ofNullable(WorkerMain.class.getPackage().getImplementationVersion())
                    .orElse("unpackaged");
            return new String[] {"waymark " + version};
        }
    }
}
