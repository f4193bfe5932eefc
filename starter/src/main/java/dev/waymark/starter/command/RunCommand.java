package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.CommandName;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.TurnHandle;
import dev.waymark.client.connection.ValueText;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.client.request.Prompt;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.starter.options.JsonFiles;
import dev.waymark.starter.options.ShutdownHandler;
import dev.waymark.starter.options.WaitOptions;
import dev.waymark.starter.render.OneLine;
import dev.waymark.starter.render.OutcomeRenderer;
import dev.waymark.starter.render.Output;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@HelpEntry(
        group = CommandGroup.START,
        examples = {"run --agent assistant \"Hello\"", "run --agent assistant --thread trip \"Book a table\""})
@Command(name = "run", description = "Starts a run or a thread, or continues an open one, and waits for the outcome.")
public final class RunCommand implements Callable<Integer> {
    @Mixin
    private Output output;

    @Mixin
    private WaitOptions wait;

    @Parameters(
            index = "0",
            paramLabel = "MESSAGE",
            arity = "0..1",
            description =
                    "The message. A new thread needs one, unless --messages is given. Without a message, the model"
                            + " of an open thread is called again with the conversation as it is.")
    private String message;

    @Option(names = "--agent", paramLabel = "A", description = "The agent. Required for a run or a new thread.")
    private String agent;

    @Option(
            names = "--thread",
            paramLabel = "ID",
            description =
                    "The id of a new or open thread, which stays open for more turns. Default: a single run, which closes"
                            + " when its turn ends.")
    private String thread;

    @Option(names = "--no-wait", description = "Return once the server has stored the request. Needs no worker.")
    private boolean noWait;

    @Option(names = "--assert-complete", description = "Exit with code 4 if the turn waits for a person.")
    private boolean assertComplete;

    @Option(
            names = "--max-iterations",
            paramLabel = "N",
            description = "The maximum number of model calls per turn, for a new thread.")
    private Integer maxIterations;

    @Option(
            names = "--messages",
            paramLabel = "FILE",
            description = "A JSON list of messages that replaces the conversation; [] clears it. The format is that of"
                    + " a runner checkpoint. To continue from a checkpoint in another format, use resume.")
    private Path messages;

    @Option(
            names = "--context",
            paramLabel = "JSON",
            description = "A JSON object as context for a new thread's tools. Its fields override the agent's.")
    private String context;

    @Option(
            names = "--schema",
            paramLabel = "FILE",
            description = "A JSON Schema for the agent's final reply. If the reply does not match, the model is called"
                    + " once more.")
    private Path schema;

    @Option(names = "--volatile", description = "Accept that the thread is lost when its in-memory server stops.")
    private boolean isVolatile;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        Prompt prompt = prompt();
        boolean isToLast = thread != null && !isVolatile;
        try (AgentClient client = wait.client(output, isToLast)) {
            if (noWait) {
                int exitCode = started("running", client.start(prompt));
                if (thread != null) {
                    wait.printHowToKeepSaving(thread, output);
                }
                return exitCode;
            }
            if (isClearing(prompt)) {
                return started("cleared", cleared(client, prompt.messages().orElseThrow()));
            }
            TurnHandle turn = client.run(prompt);
            try (ShutdownHandler interrupted = ShutdownHandler.listen(() -> reportContinuing(turn.thread()))) {
                return finished(turn.await());
            }
        }
    }

    /** Tells a user who has interrupted the wait how to follow the turn, which continues. */
    private int reportContinuing(String thread) {
        output.note(thread + " continues. To wait for its outcome: "
                + CommandName.line("result " + ValueText.quoted(thread)));
        return ExitCode.TIMED_OUT;
    }

    private TurnHandle cleared(AgentClient client, Json emptyList) {
        TurnHandle cleared = client.send(thread, OutboundMessage.replacement(emptyList));
        client.saved().save(thread);
        return cleared;
    }

    private int finished(AgentResult result) {
        int exitCode = OutcomeRenderer.print(output, result);
        if (assertComplete && result instanceof AgentResult.Interrupted interrupted) {
            output.note(OneLine.error("Agent interrupted: " + interrupted.question(), ""));
            return ExitCode.INTERRUPTED;
        }
        return exitCode;
    }

    private int started(String status, TurnHandle started) {
        if (output.isJson()) {
            output.document(JsonDocuments.of(status, started));
        } else {
            output.line(status + ": " + started.thread());
        }
        return ExitCode.DONE;
    }

    /** Whether the prompt only clears the conversation, which starts no turn. */
    private boolean isClearing(Prompt prompt) {
        return thread != null
                && agent == null
                && message == null
                && prompt.messages().equals(Optional.of(Json.of(List.of())));
    }

    private Prompt prompt() {
        if (maxIterations != null && maxIterations < 1) {
            throw new ParameterException(spec.commandLine(), "--max-iterations must be at least 1: " + maxIterations);
        }
        Prompt prompt = isVolatile ? Prompt.blank().allowingVolatile() : Prompt.blank();
        prompt = agent == null ? prompt : prompt.withAgent(agent);
        prompt = thread == null ? prompt : prompt.withThread(thread);
        prompt = message == null ? prompt : prompt.withMessage(message);
        prompt = maxIterations == null ? prompt : prompt.withMaxIterations(maxIterations);
        prompt = context == null ? prompt : prompt.withContext(JsonFiles.parse("--context", context));
        prompt = schema == null ? prompt : prompt.withSchema(JsonFiles.read(schema, ProblemType.BAD_INPUT));
        return messages == null ? prompt : prompt.withMessages(JsonFiles.read(messages, ProblemType.CORRUPTION));
    }
}
