package dev.waymark.starter;

import dev.waymark.client.WaymarkException;
import dev.waymark.starter.chat.ChatCommand;
import dev.waymark.starter.command.AnswerCommand;
import dev.waymark.starter.command.ApproveCommand;
import dev.waymark.starter.command.BudgetCommand;
import dev.waymark.starter.command.CallsCommand;
import dev.waymark.starter.command.CancelCommand;
import dev.waymark.starter.command.CheckpointCommand;
import dev.waymark.starter.command.CheckpointsCommand;
import dev.waymark.starter.command.ClearCommand;
import dev.waymark.starter.command.CloseCommand;
import dev.waymark.starter.command.DenyCommand;
import dev.waymark.starter.command.DescribeCommands;
import dev.waymark.starter.command.ForkCommand;
import dev.waymark.starter.command.KeygenCommand;
import dev.waymark.starter.command.PendingCommand;
import dev.waymark.starter.command.ResultCommand;
import dev.waymark.starter.command.ResumeCommand;
import dev.waymark.starter.command.RunCommand;
import dev.waymark.starter.command.SaveCommand;
import dev.waymark.starter.command.SayCommand;
import dev.waymark.starter.command.SessionsCommand;
import dev.waymark.starter.command.SettleCommand;
import dev.waymark.starter.command.ShowCommand;
import dev.waymark.starter.command.StopCommand;
import dev.waymark.starter.command.VerifyCommand;
import dev.waymark.starter.command.WatchCommand;
import dev.waymark.starter.demo.DemoCommand;
import dev.waymark.starter.options.ConnectionOptions;
import dev.waymark.starter.render.ExitCode;
import dev.waymark.starter.render.JsonDocuments;
import dev.waymark.starter.render.OneLine;
import dev.waymark.starter.render.Output;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
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
import picocli.CommandLine.UnmatchedArgumentException;

/** All commands, and what happens when one fails: one line on stderr, and an exit code that says why. */
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

    /** Of every command, so that it can stand wherever somebody writes it. */
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
        commands.put("verify", VerifyCommand.class);
        commands.put("result", ResultCommand.class);
        commands.put("sessions", SessionsCommand.class);
        commands.put("clear", ClearCommand.class);
        commands.put("stop", StopCommand.class);
        commands.put("cancel", CancelCommand.class);
        commands.put("close", CloseCommand.class);
        commands.put("warm-up", WarmUpCommand.class);
        commands.put("describe-commands", DescribeCommands.class);
        return commands;
    }

    /** Runs a command and returns its exit code. */
    public static int execute(PrintWriter out, PrintWriter err, String... args) {
        CommandLine waymark = new CommandLine(new WaymarkCommand());
        // Reading the options of all commands takes longer than most commands do.
        Class<?> wanted = args.length > 0 ? COMMANDS.get(args[0]) : null;
        COMMANDS.forEach((name, command) -> {
            if (wanted == null || wanted == command || wanted == DescribeCommands.class) {
                waymark.addSubcommand(name, command);
            }
        });
        waymark.getCommandSpec()
                .usageMessage()
                .footer("", "And of the worker: dev (a development server and a worker), worker, agents, tools.");
        int exitCode = waymark.setExpandAtFiles(false)
                .setOut(out)
                .setErr(err)
                .setParameterExceptionHandler(WaymarkCommand::misused)
                .setExecutionExceptionHandler(WaymarkCommand::failed)
                .execute(args);
        out.flush();
        err.flush();
        return exitCode;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "no command");
    }

    private static int misused(ParameterException e, String[] args) {
        CommandLine command = e.getCommandLine();
        boolean isUnknown = command.getParent() == null
                && e instanceof UnmatchedArgumentException unmatched
                && !unmatched.isUnknownOption();
        String message = isUnknown
                ? "no such command: "
                        + ((UnmatchedArgumentException) e).getUnmatched().get(0)
                : String.valueOf(e.getMessage());
        String line = OneLine.error(message, "Try: " + command.getCommandSpec().qualifiedName() + " --help");
        command.getErr().println(line);
        if (Arrays.asList(args).contains(Output.JSON)) {
            command.getOut().println(Output.spell(JsonDocuments.failure("BadInput", OneLine.oneLine(message))));
        }
        return ExitCode.BAD_INPUT;
    }

    private static int failed(Exception e, CommandLine command, ParseResult parsed) {
        ParseResult own = parsed;
        while (own.hasSubcommand()) {
            own = own.subcommand();
        }
        boolean json = own.matchedOptionValue(Output.JSON, false);
        if (own.matchedOptionValue(Output.VERBOSE, false)) {
            StringWriter trace = new StringWriter();
            e.printStackTrace(new PrintWriter(trace));
            command.getErr().print(trace);
        }
        if (e instanceof WaymarkException known) {
            command.getErr().println(OneLine.error(known));
            if (json) {
                command.getOut().println(Output.spell(JsonDocuments.of(known)));
            }
            return ExitCode.of(known);
        }
        String message = "unexpected " + e.getClass().getSimpleName() + ": " + e.getMessage();
        String line = OneLine.error(message, "Add --verbose to see where");
        command.getErr().println(line);
        if (json) {
            command.getOut().println(Output.spell(JsonDocuments.failure("Unexpected", message)));
        }
        return ExitCode.FAILED;
    }

    static final class Version implements CommandLine.IVersionProvider {
        @Override
        public String[] getVersion() {
            // Absent when the classes were not packaged.
            String version = Optional.ofNullable(
                            WaymarkCommand.class.getPackage().getImplementationVersion())
                    .orElse("unpackaged");
            return new String[] {"waymark " + version};
        }
    }
}
