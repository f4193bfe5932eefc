package dev.waymark.starter.cli;

import dev.waymark.starter.client.WaymarkException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
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
        versionProvider = Waymark.Version.class)
public final class Waymark implements Runnable {
    private static final Map<String, Class<?>> COMMANDS = commands();

    @Spec
    private CommandSpec spec;

    private Waymark() {}

    private static Map<String, Class<?>> commands() {
        Map<String, Class<?>> commands = new LinkedHashMap<>();
        commands.put("demo", Demo.class);
        commands.put("run", Run.class);
        commands.put("chat", Chat.class);
        commands.put("say", Say.class);
        commands.put("answer", Answer.class);
        commands.put("approve", Approve.class);
        commands.put("deny", Deny.class);
        commands.put("settle", Settle.class);
        commands.put("budget", Budget.class);
        commands.put("pending", Pending.class);
        commands.put("show", Show.class);
        commands.put("resume", Resume.class);
        commands.put("fork", Fork.class);
        commands.put("watch", Watch.class);
        commands.put("checkpoint", Checkpoint.class);
        commands.put("checkpoints", Checkpoints.class);
        commands.put("save", Save.class);
        commands.put("calls", Calls.class);
        commands.put("verify", Verify.class);
        commands.put("result", Result.class);
        commands.put("sessions", Sessions.class);
        commands.put("clear", Clear.class);
        commands.put("stop", Stop.class);
        commands.put("cancel", Cancel.class);
        commands.put("close", Close.class);
        commands.put("warm-up", WarmUp.class);
        return commands;
    }

    /** Runs a command and returns its exit code. */
    public static int execute(PrintWriter out, PrintWriter err, String... args) {
        CommandLine waymark = new CommandLine(new Waymark());
        // Reading the options of all commands takes longer than most commands do.
        Class<?> wanted = args.length > 0 ? COMMANDS.get(args[0]) : null;
        COMMANDS.forEach((name, command) -> {
            if (wanted == null || wanted == command) {
                waymark.addSubcommand(name, command);
            }
        });
        waymark.getCommandSpec()
                .usageMessage()
                .footer("", "And of the worker: dev (a development server and a worker), worker, agents, tools.");
        int exitCode = waymark.setExpandAtFiles(false)
                .setOut(out)
                .setErr(err)
                .setParameterExceptionHandler(Waymark::misused)
                .setExecutionExceptionHandler(Waymark::failed)
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
        String line = Lines.error(message, "Try: " + command.getCommandSpec().qualifiedName() + " --help");
        command.getErr().println(line);
        if (Arrays.asList(args).contains(Output.JSON)) {
            command.getOut().println(Output.spell(Documents.failure("BadInput", Lines.oneLine(message))));
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
            command.getErr().println(Lines.error(known));
            if (json) {
                command.getOut().println(Output.spell(Documents.of(known)));
            }
            return ExitCode.of(known);
        }
        String message = "unexpected " + e.getClass().getSimpleName() + ": " + e.getMessage();
        String line = Lines.error(message, "Add --verbose to see where");
        command.getErr().println(line);
        if (json) {
            command.getOut().println(Output.spell(Documents.failure("Unexpected", message)));
        }
        return ExitCode.FAILED;
    }

    static final class Version implements CommandLine.IVersionProvider {
        @Override
        public String[] getVersion() {
            // Absent when the classes were not packaged.
            String version = Optional.ofNullable(Waymark.class.getPackage().getImplementationVersion())
                    .orElse("unpackaged");
            return new String[] {"waymark " + version};
        }
    }
}
