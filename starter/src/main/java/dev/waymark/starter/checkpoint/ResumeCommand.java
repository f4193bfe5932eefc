package dev.waymark.starter.checkpoint;

import dev.waymark.checkpoint.CheckpointReader;
import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.CommandName;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.ThreadLists;
import dev.waymark.client.TurnHandle;
import dev.waymark.client.connection.ValueText;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.saver.SaverTarget;
import dev.waymark.starter.options.JsonFiles;
import dev.waymark.starter.options.SaverOptions;
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
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@HelpEntry(
        group = CommandGroup.CONTINUE,
        examples = {
            "resume trip --answer \"For three\"",
            "resume checkpoint.json --agent assistant --answer Friday",
            "resume --from file:checkpoints --all"
        })
@Command(name = "resume", description = "Continues from a checkpoint or a closed thread, and waits for the outcome.")
public final class ResumeCommand implements Callable<Integer> {
    /** One byte more than allowed, so that a file that is too large is noticed. */
    private static final int MOST_BYTES = CheckpointReader.MAX_BYTES + 1;

    /** The options that can be combined with {@code --all}. The others apply to a single thread. */
    private static final Set<String> WITH_ALL = Set.of("--all", "--from", "--json", "--verbose", "--address");

    @Mixin
    private Output output;

    @Mixin
    private WaitOptions wait;

    @Parameters(
            index = "0",
            paramLabel = "FILE|-|THREAD",
            arity = "0..1",
            description = "A checkpoint in any format, - for a checkpoint on stdin, or a closed thread.")
    private String source;

    @Option(names = "--from", paramLabel = "TARGET", description = "The saver that has the checkpoint of THREAD.")
    private String from;

    @Option(
            names = "--all",
            description = "With --from: restore all saved threads that the server does not know, under their own ids."
                    + " They stay open.")
    private boolean all;

    @Option(
            names = "--answer",
            paramLabel = "TEXT",
            description = "The answer to the open question; a new message if none is open.")
    private String answer;

    @Option(
            names = "--agent",
            paramLabel = "A",
            description = "The agent. Default: the recorded one, or else the worker's only agent.")
    private String agent;

    @Option(
            names = "--thread",
            paramLabel = "ID",
            description =
                    "The id of the new thread, which then stays open. Default: an id derived from the source, the answer and"
                            + " the other options.")
    private String thread;

    @Option(names = "--max-iterations", paramLabel = "N", description = "The maximum number of model calls per turn.")
    private Integer maxIterations;

    @Option(
            names = "--context",
            paramLabel = "JSON",
            description = "A JSON object as context for the new thread's tools, instead of the recorded one.")
    private String context;

    @Option(
            names = "--run-pending",
            description =
                    "Run the calls that a checkpoint has not started yet, also those with side effects, unless their"
                            + " tools always need approval. Default: ask at a terminal; in a script, calls with side"
                            + " effects wait for approval.")
    private boolean runPending;

    @Option(names = "--no-wait", description = "Return once the server has stored the request. Needs no worker.")
    private boolean noWait;

    @Option(names = "--assert-complete", description = "Exit with code 4 if the turn waits for a person.")
    private boolean assertComplete;

    @Option(names = "--volatile", description = "Accept that the thread is lost when its in-memory server stops.")
    private boolean isVolatile;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        check();
        if (all) {
            return new SavedThreadsRestore(output).from(from);
        }
        if (from != null) {
            source = SaverOptions.using(
                    from, saver -> saver.exists(source) ? source : ThreadLists.theOnly(source, saver.list()));
        }
        ResumeOptions asked = how();
        try (AgentClient client = wait.client(output, !isVolatile)) {
            Optional<byte[]> checkpoint = checkpoint();
            ResumeOptions how = checkpoint
                    .map(text -> new CheckpointQuestions(output, runPending).decided(client, text, asked))
                    .orElse(asked);
            TurnHandle turn =
                    checkpoint.map(text -> client.resume(text, how)).orElseGet(() -> resumeThread(client, how));
            // Resuming a complete checkpoint starts nothing, so its recorded outcome is printed.
            if (noWait && !(checkpoint.isPresent() && turn.delivery() == TurnHandle.Delivery.NOT_NEEDED)) {
                return started(client, turn);
            }
            AgentResult result = turn.await();
            int exitCode = OutcomeRenderer.print(output, result);
            if (assertComplete && result instanceof AgentResult.Interrupted interrupted) {
                output.note(OneLine.error("Agent interrupted: " + interrupted.question(), ""));
                return ExitCode.INTERRUPTED;
            }
            if (hasUnprintedId(result)) {
                output.note("  " + CommandName.line("show " + ValueText.quoted(result.thread())));
            }
            return exitCode;
        }
    }

    private void check() {
        if (all == (source != null)) {
            throw misused("resume needs either FILE, - or THREAD, or --from TARGET --all");
        }
        if (all && from == null) {
            throw misused("--all requires --from TARGET");
        }
        spec.commandLine().getParseResult().matchedOptions().stream()
                .map(OptionSpec::longestName)
                .filter(name -> all && !WITH_ALL.contains(name))
                .findFirst()
                .ifPresent(name -> {
                    throw misused("--all can't be combined with " + name);
                });
    }

    private ParameterException misused(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private int started(AgentClient client, TurnHandle turn) {
        if (turn.delivery() != TurnHandle.Delivery.NOT_NEEDED) {
            client.saved().save(turn.thread());
        }
        if (output.isJson()) {
            output.document(JsonDocuments.of("running", turn));
        } else {
            output.line("running: " + turn.thread());
        }
        wait.printHowToKeepSaving(turn.thread(), output);
        return ExitCode.DONE;
    }

    private TurnHandle resumeThread(AgentClient client, ResumeOptions how) {
        String found = client.lists().find(source);
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

    /** Whether a thread was started whose generated id has not been printed yet. */
    private boolean hasUnprintedId(AgentResult result) {
        return result instanceof AgentResult.Complete
                && !output.isJson()
                && thread == null
                && !result.runId().isEmpty()
                && !result.thread().equals(source);
    }

    /** Returns the content of the checkpoint; empty if the argument is not a file and names a thread on the server. */
    private Optional<byte[]> checkpoint() {
        if (from != null) {
            return Optional.of(saved());
        }
        try {
            if (source.equals("-")) {
                return Optional.of(System.in.readNBytes(MOST_BYTES));
            }
            Path file = Path.of(source);
            // The file may be a pipe: <(waymark checkpoint trip).
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
                    ProblemType.BAD_INPUT,
                    "the checkpoint can't be read: " + source + " ("
                            + e.getClass().getSimpleName() + ")",
                    "Give a readable file, or - for stdin");
        }
    }

    private String place() {
        return from == null ? source : source + " in " + SaverTarget.parse(from);
    }

    private byte[] saved() {
        Json document = SaverOptions.using(from, saver -> saver.load(source))
                .orElseThrow(() -> new WaymarkException.NotFound(
                        "no checkpoint of this thread: " + source, "List the entries of the saver: " + from));
        return document.canonical().getBytes(StandardCharsets.UTF_8);
    }

    private ResumeOptions how() {
        if (maxIterations != null && maxIterations < 1) {
            throw misused("--max-iterations must be at least 1: " + maxIterations);
        }
        ResumeOptions how = ResumeOptions.onward().withOrigin(place());
        how = from == null ? how : how.as(SaverOptions.using(from, saver -> saver.owner(source)));
        how = answer == null ? how : how.withAnswer(answer);
        how = agent == null ? how : how.withAgent(agent);
        how = thread == null ? how : how.withThread(thread);
        how = maxIterations == null ? how : how.withMaxIterations(maxIterations);
        how = context == null ? how : how.withContext(JsonFiles.parse("--context", context));
        return isVolatile ? how.allowingVolatile() : how;
    }
}
