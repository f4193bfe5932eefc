package dev.waymark.starter.checkpoint;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentClient;
import dev.waymark.client.SaveFollower;
import dev.waymark.client.SavedThreads;
import dev.waymark.client.ThreadEvent;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.save.SaveInterval;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.saver.CheckpointSaver;
import dev.waymark.saver.SaverException;
import dev.waymark.starter.connection.ConnectionOptions;
import dev.waymark.starter.options.Durations;
import dev.waymark.starter.options.SaverOptions;
import dev.waymark.starter.options.ShutdownHandler;
import dev.waymark.starter.options.ThreadHelp;
import dev.waymark.starter.render.Output;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

@HelpEntry(
        group = CommandGroup.CONTINUE,
        examples = {"save trip --to file:checkpoints", "save --all --follow --to jdbc:sqlite:threads.db"})
@Command(
        name = "save",
        description = {
            "Saves a thread's checkpoint to a saver, in the thread format, once or as the thread progresses.",
            "To continue a saved thread, use resume --from. It is safe to kill save --follow: after a restart, it saves"
                    + " the newest version."
        })
public final class SaveCommand implements Callable<Integer> {
    @Mixin
    private Output output;

    @Parameters(
            index = "0",
            paramLabel = "THREAD",
            arity = "0..1",
            description = ThreadHelp.ID + " Required unless --all is given.")
    private String thread;

    @Option(
            names = "--to",
            paramLabel = "TARGET",
            description = "Save to " + SaverOptions.TARGETS + ". Default: " + SaverOptions.SETTING + ".")
    private String target;

    @Option(names = "--follow", description = "Save as the thread progresses, until it closes.")
    private boolean follow;

    @Option(
            names = "--all",
            description = "With --follow: save all threads on the server, until SIGTERM or Ctrl-C. Closed threads are"
                    + " saved once.")
    private boolean all;

    @Option(
            names = "--every",
            paramLabel = "turn|step|D",
            description =
                    "With --follow: save after each turn, after each step (default), or at this interval (5s, 2m).",
            converter = Every.class)
    private SaveInterval every;

    @Option(
            names = "--flush-timeout",
            paramLabel = "D",
            description =
                    "How long to wait for the newest version to be saved. With --follow, this applies when the command ends. Default: 10s.",
            converter = Durations.class)
    private Duration flushTimeout;

    @Option(
            names = "--replace",
            description = "Without --follow: replace even a newer checkpoint, or a checkpoint of another thread with"
                    + " this name.")
    private boolean replace;

    @Spec
    private CommandSpec spec;

    /** Reads {@code turn}, {@code step} and durations. */
    static final class Every implements ITypeConverter<SaveInterval> {
        @Override
        public SaveInterval convert(String text) {
            return switch (text) {
                case "turn" -> SaveInterval.TURN;
                case "step" -> SaveInterval.STEP;
                default -> SaveInterval.every(duration(text));
            };
        }

        private static Duration duration(String text) {
            try {
                return new Durations().convert(text);
            } catch (TypeConversionException e) {
                throw new TypeConversionException(
                        "'" + text + "' is not a time to save: write turn, step, or 500ms, 5s, 2m, 24h");
            }
        }
    }

    @Override
    public Integer call() throws InterruptedException {
        check();
        String where = SaverOptions.target(target)
                .orElseThrow(() -> misused("a saver is required: use --to TARGET, or set " + SaverOptions.SETTING));
        if (!follow) {
            return saveOnce(where);
        }
        try (CheckpointSaver saver = SaverOptions.openLasting(where);
                AgentClient client = ConnectionOptions.toServer()) {
            SaveOptions saving = saving(saver).withCadence(every == null ? SaveInterval.STEP : every);
            SavedThreads threads = client.onNotice(this::tell).saved();
            return follow(
                    all
                            ? threads.followAll(saving)
                            : threads.follow(client.lists().find(thread), saving),
                    saving);
        }
    }

    private void check() {
        if (all == (thread != null)) {
            throw misused("save needs either THREAD or --all");
        }
        if (!follow && (all || every != null)) {
            throw misused("--all and --every require --follow");
        }
        if (follow && replace) {
            throw misused("--replace can't be combined with --follow");
        }
    }

    private ParameterException misused(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private int follow(SaveFollower following, SaveOptions saving) throws InterruptedException {
        ShutdownHandler termination = ShutdownHandler.listen(() -> end(following, saving));
        try (following) {
            following.await();
            return end(following, saving);
        } finally {
            termination.close();
        }
    }

    private int end(SaveFollower following, SaveOptions saving) {
        List<String> unsaved = following.stop();
        unsaved.forEach(each -> output.note(SaverOptions.line(SaverException.late(each, saving.flushTimeout()))));
        return unsaved.isEmpty() ? ExitCode.DONE : ExitCode.NOT_SAVED;
    }

    private int saveOnce(String where) {
        try (CheckpointSaver saver = SaverOptions.open(where);
                AgentClient client = ConnectionOptions.toServer()) {
            thread = client.lists().find(thread);
            int step = client.saved().saveOnce(thread, saving(saver), replace).step();
            if (output.isJson()) {
                output.document(JsonDocuments.saved(thread, step));
            } else {
                output.note("saved at step " + step);
            }
            return ExitCode.DONE;
        } catch (SaverException e) {
            if (e.type().equals(ProblemType.SAVER_FAILED) || e.type().equals(ProblemType.CHECKPOINT_SUPERSEDED)) {
                throw new WaymarkException.NotSaved(
                        e.type(), String.valueOf(e.getMessage()), Remedy.advice(e.remedy()));
            }
            throw SaverOptions.refused(e);
        }
    }

    private SaveOptions saving(CheckpointSaver saver) {
        return SaveOptions.in(saver).withFlushTimeout(flushTimeout == null ? SaveOptions.FLUSH_TIMEOUT : flushTimeout);
    }

    /** Prints what a follower saves and what it fails to save. */
    private void tell(ThreadEvent event) {
        if (event instanceof ThreadEvent.SaveFailed failed) {
            output.note(SaverOptions.line(failed.problem()));
        } else if (event instanceof ThreadEvent.Saved saved) {
            if (output.isJson()) {
                output.document(JsonDocuments.saved(saved.threadId(), saved.step()));
            } else {
                output.line(saved.threadId() + ": saved at step " + saved.step());
            }
        }
    }
}
