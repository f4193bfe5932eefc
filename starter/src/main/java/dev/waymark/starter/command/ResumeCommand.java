package dev.waymark.starter.command;

import dev.waymark.checkpoint.CheckpointReader;
import dev.waymark.cli.CommandName;
import dev.waymark.cli.ExitCode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.Remedy;
import dev.waymark.client.ResumeOptions;
import dev.waymark.client.ValueText;
import dev.waymark.client.WaymarkException;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.saver.SaverTarget;
import dev.waymark.starter.options.JsonFiles;
import dev.waymark.starter.options.Savers;
import dev.waymark.starter.options.WaitOptions;
import dev.waymark.starter.render.OneLine;
import dev.waymark.starter.render.OutcomeRenderer;
import dev.waymark.starter.render.Output;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Goes on from where a conversation was left. */
@Command(
        name = "resume",
        description = "Goes on from a checkpoint, or from where a closed thread ended, and waits for the outcome.")
public final class ResumeCommand implements Callable<Integer> {
    /** One more than are taken, so as to see that there are more. */
    private static final int MOST_BYTES = CheckpointReader.MAX_BYTES + 1;

    @Mixin
    private Output output;

    @Mixin
    private WaitOptions wait;

    @Parameters(
            index = "0",
            paramLabel = "FILE|-|THREAD",
            description = "A checkpoint of any format, - for one on stdin, or a closed thread.")
    private String source;

    @Option(names = "--from", paramLabel = "TARGET", description = "A saver that has the thread's checkpoint.")
    private String from;

    @Option(
            names = "--answer",
            paramLabel = "TEXT",
            description = "The answer to the open question; where none is open, a new message.")
    private String answer;

    @Option(names = "--agent", paramLabel = "A", description = "Who goes on. Default: the agent that is recorded.")
    private String agent;

    @Option(
            names = "--thread",
            paramLabel = "ID",
            description = "The new thread's id; it stays open. Default: made of what is resumed and the answer.")
    private String thread;

    @Option(names = "--max-iterations", paramLabel = "N", description = "How often a turn may call the model, at most.")
    private Integer maxIterations;

    @Option(
            names = "--context",
            paramLabel = "JSON",
            description = "An object that the new thread carries for its tools, instead of what is recorded.")
    private String context;

    @Option(names = "--no-wait", description = "Return once it is durable. No worker is needed for that.")
    private boolean noWait;

    @Option(names = "--assert-complete", description = "Exit with 4 when the agent asks a person something.")
    private boolean assertComplete;

    @Option(names = "--volatile", description = "Let a thread live on a server that keeps everything in memory.")
    private boolean isVolatile;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        ResumeOptions how = how();
        try (AgentClient client = wait.client(output, !isVolatile)) {
            Optional<byte[]> checkpoint = checkpoint();
            if (noWait) {
                return started(client, checkpoint, how);
            }
            AgentResult result = checkpoint
                    .map(text -> client.resume(text, place(), how))
                    .orElseGet(() -> resumeThread(client, how));
            int exitCode = OutcomeRenderer.print(output, result);
            if (assertComplete && result instanceof AgentResult.Interrupted interrupted) {
                output.note(OneLine.error("Agent interrupted: " + interrupted.question(), ""));
                return ExitCode.INTERRUPTED;
            }
            if (hasUntoldName(result)) {
                output.note("  " + CommandName.line("show " + ValueText.quoted(result.thread())));
            }
            return exitCode;
        }
    }

    private int started(AgentClient client, Optional<byte[]> checkpoint, ResumeOptions how) {
        Optional<AgentClient.Started> started = checkpoint
                .map(text -> client.resumeOnly(text, place(), how))
                .orElseGet(() -> Optional.of(client.resumeOnly(source, how)));
        if (started.isEmpty()) {
            // Nothing goes on, so its outcome is all there is.
            return OutcomeRenderer.print(output, client.resume(checkpoint.orElseThrow(), place(), how));
        }
        if (output.isJson()) {
            output.document(JsonDocuments.of("running", started.get()));
        } else {
            output.line("running: " + started.get().thread());
        }
        return ExitCode.DONE;
    }

    private AgentResult resumeThread(AgentClient client, ResumeOptions how) {
        String found = client.find(source);
        boolean looksLikeAFile = source.contains(".") || source.contains("/");
        try {
            return client.resume(found, how);
        } catch (WaymarkException.NotFound e) {
            if (looksLikeAFile && e.remedy().action() == Remedy.Action.LIST_THREADS) {
                throw new WaymarkException.NotFound("no such file, and no such thread: " + source, e.remedy());
            }
            throw e;
        }
    }

    /** Nobody chose it, and neither words nor a document have told it. Where nothing went on, there is none. */
    private boolean hasUntoldName(AgentResult result) {
        return result instanceof AgentResult.Complete
                && !output.isJson()
                && thread == null
                && !result.runId().isEmpty()
                && !result.thread().equals(source);
    }

    /** The text of a checkpoint, or empty when a thread of the server is meant. */
    private Optional<byte[]> checkpoint() {
        if (from != null) {
            return Optional.of(saved());
        }
        try {
            if (source.equals("-")) {
                return Optional.of(System.in.readNBytes(MOST_BYTES));
            }
            Path file = Path.of(source);
            // A pipe is one as well: <(waymark checkpoint trip).
            if (!Files.exists(file) || Files.isDirectory(file)) {
                return Optional.empty();
            }
            try (InputStream text = Files.newInputStream(file)) {
                return Optional.of(text.readNBytes(MOST_BYTES));
            }
        } catch (InvalidPathException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw new WaymarkException.Refused(
                    Problem.BAD_INPUT,
                    "it can't be read: " + source + " (" + e.getClass().getSimpleName() + ")",
                    "Name a checkpoint that you may read, or - for one on stdin");
        }
    }

    private String place() {
        return from == null ? source : source + " in " + SaverTarget.parse(from);
    }

    private byte[] saved() {
        Json document = Savers.using(from, saver -> saver.load(source))
                .orElseThrow(() -> new WaymarkException.NotFound(
                        "no checkpoint of this thread: " + source, "See what is in there: " + from));
        return document.canonical().getBytes(StandardCharsets.UTF_8);
    }

    private ResumeOptions how() {
        if (maxIterations != null && maxIterations < 1) {
            throw new ParameterException(spec.commandLine(), "--max-iterations must be at least 1: " + maxIterations);
        }
        ResumeOptions how = from == null
                ? ResumeOptions.onward()
                : ResumeOptions.onward().as(Savers.using(from, saver -> saver.owner(source)));
        how = answer == null ? how : how.withAnswer(answer);
        how = agent == null ? how : how.withAgent(agent);
        how = thread == null ? how : how.withThread(thread);
        how = maxIterations == null ? how : how.withMaxIterations(maxIterations);
        how = context == null ? how : how.withContext(JsonFiles.parse("--context", context));
        return isVolatile ? how.allowingVolatile() : how;
    }
}
