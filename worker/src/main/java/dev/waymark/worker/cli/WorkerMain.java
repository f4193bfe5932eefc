package dev.waymark.worker.cli;

import dev.waymark.cli.ErrorRenderer;
import dev.waymark.cli.HelpWord;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The entry point of the worker's jar, which has the commands of {@code ./waymark} that run or check agents. */
@Command(
        name = "waymark",
        description = "Runs and checks LLM agents as Temporal workflows.",
        mixinStandardHelpOptions = true,
        scope = ScopeType.INHERIT,
        subcommands = {
            WorkerCommand.class,
            DevCommand.class,
            AgentsCommand.class,
            ToolsCommand.class,
            GateCommand.class,
            ExportCommand.class,
            WorkerWarmUp.class,
            DescribeWorkerCommands.class
        },
        versionProvider = WorkerMain.Version.class)
public final class WorkerMain implements Runnable {

    private static final String LOGGING = "logback.configurationFile";

    private static final Map<String, List<String>> EXAMPLES = Map.of(
            "gate", List.of("gate", "gate --build waymark-worker.jar --agents new-agents --sample 500"),
            "export", List.of("export trip --out src/test/resources/trip.json"),
            "dev", List.of("dev", "dev --agents my-agents --port 7300", "dev --in-memory"),
            "worker", List.of("worker --agents my-agents --address temporal.example:7233"),
            "agents", List.of("agents", "agents --agents my-agents"),
            "tools", List.of("tools assistant", "tools assistant --call NAME '{\"id\":7}'"));

    @Spec
    private CommandSpec spec;

    public static void main(String[] args) {
        configureLogging();
        System.exit(execute(writer(FileDescriptor.out), writer(FileDescriptor.err), args));
    }

    /** The name is not {@code logback.xml}, which Logback would also find in programs that use this library. */
    private static void configureLogging() {
        if (System.getProperty(LOGGING) == null) {
            System.setProperty(LOGGING, "dev/waymark/worker/cli/logging.xml");
        }
    }

    /** Writes UTF-8 in every locale. */
    private static PrintWriter writer(FileDescriptor to) {
        return new PrintWriter(new OutputStreamWriter(new FileOutputStream(to), StandardCharsets.UTF_8), true);
    }

    /** Returns the command line with all commands of this jar, for programs that only parse arguments. */
    public static CommandLine commandLine() {
        return new CommandLine(new WorkerMain()).setExpandAtFiles(false);
    }

    /** Runs a command and returns its exit code. */
    static int execute(PrintWriter out, PrintWriter err, String... args) {
        CommandLine waymark = commandLine();
        waymark.getSubcommands()
                .forEach((name, command) ->
                        HelpWord.addExamples(command.getCommandSpec(), EXAMPLES.getOrDefault(name, List.of())));
        return ErrorRenderer.install(waymark, CommandFailure::of)
                .setOut(out)
                .setErr(err)
                .execute(HelpWord.replaced(args));
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "no command");
    }

    static final class Version implements CommandLine.IVersionProvider {
        @Override
        public String[] getVersion() {
            // Classes that are not in a jar have no version.
            String version = Optional.ofNullable(WorkerMain.class.getPackage().getImplementationVersion())
                    .orElse("unpackaged");
            return new String[] {"waymark " + version};
        }
    }
}
