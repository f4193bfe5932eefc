package dev.waymark.starter;

import dev.waymark.cli.ErrorRenderer;
import dev.waymark.cli.HelpWord;
import dev.waymark.connect.Connection;
import dev.waymark.starter.connection.ConnectionOptions;
import dev.waymark.starter.options.WaitOptions;
import dev.waymark.starter.render.CommandErrors;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** All commands. A failed command prints one line to stderr, and its exit code identifies the reason. */
@Command(
        name = "waymark",
        description = "Runs LLM agents as Temporal workflows.",
        mixinStandardHelpOptions = true,
        scope = ScopeType.INHERIT,
        versionProvider = WaymarkCommand.Version.class)
public final class WaymarkCommand implements Runnable {
    private static final String ADDRESS = "--address";

    @Spec
    private CommandSpec spec;

    /** Inherited by all commands, so that it can appear anywhere on the command line. */
    @Option(
            names = ADDRESS,
            paramLabel = "HOST:PORT",
            scope = ScopeType.INHERIT,
            defaultValue = Option.NULL_VALUE,
            description = "The Temporal server. Default: TEMPORAL_ADDRESS, or 127.0.0.1:7233.")
    private void connectTo(@Nullable String hostAndPort) {
        Optional.ofNullable(hostAndPort).flatMap(Connection::addressProblem).ifPresent(problem -> {
            throw new ParameterException(spec.commandLine(), ADDRESS + " " + problem + ": " + hostAndPort);
        });
        ConnectionOptions.use(hostAndPort);
    }

    private WaymarkCommand() {}

    /** Returns the command line with all commands, for programs that only parse a command line. */
    public static CommandLine commandLine() {
        return commandLine(Commands.all());
    }

    private static CommandLine commandLine(List<Class<?>> commands) {
        CommandLine waymark = new CommandLine(new WaymarkCommand());
        for (Class<?> command : commands) {
            CommandLine added = new CommandLine(command);
            HelpText.describe(command, added);
            waymark.addSubcommand(Commands.name(command), added);
        }
        // Must come last, because commands inherit the program's own help when they are added.
        HelpText.describe(waymark);
        return waymark.setCaseInsensitiveEnumValuesAllowed(true);
    }

    /** Runs a command and returns its exit code. */
    public static int execute(PrintWriter out, PrintWriter err, String... typed) {
        String[] args = HelpWord.replaced(typed);
        Optional<Class<?>> wanted = args.length == 0 ? Optional.empty() : Commands.find(args[0]);
        if (args.length > 1 && !args[0].startsWith("-") && wanted.isEmpty()) {
            // An unknown command is reported as such, even if --help or other arguments follow it.
            args = new String[] {args[0]};
        }
        int exitCode = ErrorRenderer.install(commandLine(needed(wanted, args)), Commands::names, CommandErrors::of)
                .setExpandAtFiles(false)
                .setOut(out)
                .setErr(err)
                .setExecutionStrategy(WaymarkCommand::run)
                .execute(args);
        out.flush();
        err.flush();
        return exitCode;
    }

    /** Returns the commands to load. Loading the options of all takes longer than most commands run. */
    private static List<Class<?>> needed(Optional<Class<?>> wanted, String... args) {
        if (wanted.isPresent() && wanted.get() != DescribeCommand.class) {
            return List.of(wanted.get());
        }
        boolean mayFollow = wanted.isPresent() || (args.length > 0 && args[0].startsWith(ADDRESS));
        return mayFollow ? Commands.all() : List.of();
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "no command");
    }

    /** Runs the command and returns its exit code, which differs if a save failed. */
    private static int run(ParseResult parsed) {
        int exitCode = new CommandLine.RunLast().execute(parsed);
        ParseResult own = parsed;
        while (own.hasSubcommand()) {
            own = own.subcommand();
        }
        return own.commandSpec().mixins().values().stream()
                .map(CommandSpec::userObject)
                .filter(WaitOptions.class::isInstance)
                .map(WaitOptions.class::cast)
                .findFirst()
                .map(wait -> wait.exitCode(exitCode))
                .orElse(exitCode);
    }

    static final class Version implements CommandLine.IVersionProvider {
        @Override
        public String[] getVersion() {
            // Classes that are not in a jar have no version.
            String version = Optional.ofNullable(
                            WaymarkCommand.class.getPackage().getImplementationVersion())
                    .orElse("unpackaged");
            return new String[] {"waymark " + version};
        }
    }
}
