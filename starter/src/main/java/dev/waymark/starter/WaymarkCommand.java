package dev.waymark.starter;

import dev.waymark.cli.ErrorRenderer;
import dev.waymark.cli.HelpWord;
import dev.waymark.starter.chat.ChatCommand;
import dev.waymark.starter.checkpoint.CheckpointCommand;
import dev.waymark.starter.checkpoint.CheckpointsCommand;
import dev.waymark.starter.checkpoint.ForkCommand;
import dev.waymark.starter.checkpoint.ResumeCommand;
import dev.waymark.starter.checkpoint.SaveCommand;
import dev.waymark.starter.codec.CodecCommand;
import dev.waymark.starter.codec.RewrapCommand;
import dev.waymark.starter.command.AnswerCommand;
import dev.waymark.starter.command.ApproveCommand;
import dev.waymark.starter.command.BudgetCommand;
import dev.waymark.starter.command.CallsCommand;
import dev.waymark.starter.command.CancelCommand;
import dev.waymark.starter.command.ClearCommand;
import dev.waymark.starter.command.CloseCommand;
import dev.waymark.starter.command.DenyCommand;
import dev.waymark.starter.command.DescribeCommands;
import dev.waymark.starter.command.FilesCommand;
import dev.waymark.starter.command.ForgetCommand;
import dev.waymark.starter.command.KeygenCommand;
import dev.waymark.starter.command.PendingCommand;
import dev.waymark.starter.command.ResultCommand;
import dev.waymark.starter.command.RunCommand;
import dev.waymark.starter.command.SayCommand;
import dev.waymark.starter.command.SessionsCommand;
import dev.waymark.starter.command.SettleCommand;
import dev.waymark.starter.command.SetupCommand;
import dev.waymark.starter.command.ShowCommand;
import dev.waymark.starter.command.StopCommand;
import dev.waymark.starter.command.VerifyCommand;
import dev.waymark.starter.command.WatchCommand;
import dev.waymark.starter.connection.ConnectionOptions;
import dev.waymark.starter.demo.DemoCommand;
import dev.waymark.starter.options.WaitOptions;
import dev.waymark.starter.render.CommandErrors;
import dev.waymark.starter.serve.ServeCommand;
import dev.waymark.starter.serve.TokenCommand;
import dev.waymark.starter.trace.TraceCommand;
import dev.waymark.starter.worker.AgentsCommand;
import dev.waymark.starter.worker.DevCommand;
import dev.waymark.starter.worker.ExportCommand;
import dev.waymark.starter.worker.GateCommand;
import dev.waymark.starter.worker.ToolsCommand;
import dev.waymark.starter.worker.WorkerCommand;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
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
    private static final Map<String, Class<?>> COMMANDS = commands();

    @Spec
    private CommandSpec spec;

    /** Inherited by all commands, so that it can appear anywhere on the command line. */
    @Option(
            names = "--address",
            paramLabel = "HOST:PORT",
            scope = ScopeType.INHERIT,
            defaultValue = Option.NULL_VALUE,
            description = "The Temporal server. Default: TEMPORAL_ADDRESS, or 127.0.0.1:7233.")
    private void connectTo(@Nullable String hostAndPort) {
        ConnectionOptions.use(hostAndPort);
    }

    private WaymarkCommand() {}

    private static Map<String, Class<?>> commands() {
        Map<String, Class<?>> commands = new LinkedHashMap<>();
        commands.put("demo", DemoCommand.class);
        commands.put("run", RunCommand.class);
        commands.put("chat", ChatCommand.class);
        commands.put("say", SayCommand.class);
        commands.put("answer", AnswerCommand.class);
        commands.put("approve", ApproveCommand.class);
        commands.put("deny", DenyCommand.class);
        commands.put("settle", SettleCommand.class);
        commands.put("keygen", KeygenCommand.class);
        commands.put("budget", BudgetCommand.class);
        commands.put("pending", PendingCommand.class);
        commands.put("show", ShowCommand.class);
        commands.put("resume", ResumeCommand.class);
        commands.put("fork", ForkCommand.class);
        commands.put("watch", WatchCommand.class);
        commands.put("checkpoint", CheckpointCommand.class);
        commands.put("checkpoints", CheckpointsCommand.class);
        commands.put("save", SaveCommand.class);
        commands.put("calls", CallsCommand.class);
        commands.put("files", FilesCommand.class);
        commands.put("verify", VerifyCommand.class);
        commands.put("trace", TraceCommand.class);
        commands.put("result", ResultCommand.class);
        commands.put("sessions", SessionsCommand.class);
        commands.put("clear", ClearCommand.class);
        commands.put("stop", StopCommand.class);
        commands.put("cancel", CancelCommand.class);
        commands.put("close", CloseCommand.class);
        commands.put("forget", ForgetCommand.class);
        commands.put("serve", ServeCommand.class);
        commands.put("token", TokenCommand.class);
        commands.put("codec", CodecCommand.class);
        commands.put("rewrap", RewrapCommand.class);
        commands.put("setup", SetupCommand.class);
        commands.put("worker", WorkerCommand.class);
        commands.put("dev", DevCommand.class);
        commands.put("agents", AgentsCommand.class);
        commands.put("tools", ToolsCommand.class);
        commands.put("gate", GateCommand.class);
        commands.put("export", ExportCommand.class);
        commands.put("warm-up", WarmUpCommand.class);
        commands.put("describe-commands", DescribeCommands.class);
        return commands;
    }

    /** Returns the command line with all commands, for programs that only parse a command line. */
    public static CommandLine commandLine() {
        return commandLine(Optional.empty());
    }

    /**
     * Returns the command line with one command, or with all of them if none is given. Reading the options of all
     * commands takes longer than most commands take to run.
     */
    private static CommandLine commandLine(Optional<Class<?>> only) {
        CommandLine waymark = new CommandLine(new WaymarkCommand());
        COMMANDS.forEach((name, command) -> {
            if (only.isEmpty() || only.get() == command) {
                waymark.addSubcommand(name, command);
            }
        });
        return waymark;
    }

    /** Runs a command and returns its exit code. */
    public static int execute(PrintWriter out, PrintWriter err, String... typed) {
        String[] args = HelpWord.replaced(typed);
        if (args.length > 1 && !args[0].startsWith("-") && !COMMANDS.containsKey(args[0])) {
            // An unknown command is reported as such, even if --help or other arguments follow it.
            args = new String[] {args[0]};
        }
        Optional<Class<?>> wanted = args.length == 0 ? Optional.empty() : Optional.ofNullable(COMMANDS.get(args[0]));
        CommandLine waymark = commandLine(wanted.filter(command -> command != DescribeCommands.class));
        HelpText.describe(waymark);
        waymark.getSubcommands().forEach((name, command) -> HelpText.describe(name, command.getCommandSpec()));
        int exitCode = ErrorRenderer.install(waymark, HelpText.commands(), CommandErrors::of)
                .setExpandAtFiles(false)
                .setOut(out)
                .setErr(err)
                .setExecutionStrategy(WaymarkCommand::run)
                .execute(args);
        out.flush();
        err.flush();
        return exitCode;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "no command");
    }

    /** Runs the command and returns its exit code, which a failed save may change. */
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
