package dev.waymark.client;

import dev.waymark.client.connection.MomentStream;
import dev.waymark.client.connection.Requests;
import dev.waymark.client.connection.ServerFailures;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.connection.WorkerWords;
import dev.waymark.client.directory.ThreadDirectory;
import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.DecisionKey;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.codec.KeyProblem;
import dev.waymark.connect.Connection;
import dev.waymark.connect.ConnectionException;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.history.HistoryReader;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * A client's connection, and the caller's settings for waiting, callbacks, saving, watching and tracing.
 *
 * @param listener receives the events of waits and savers
 * @param followsSteps whether the listener is told of each step while an outcome is awaited; if not, the server is
 *     asked less often
 */
record ClientContext(
        Connection connection,
        HistoryReader histories,
        Requests requests,
        ThreadDirectory directory,
        ServerFailures failures,
        ThreadFeeds feeds,
        WorkerWords words,
        Optional<Duration> timeout,
        Callbacks callbacks,
        Optional<DecisionKey> signing,
        Optional<SaveOptions> saving,
        Consumer<ThreadEvent> listener,
        boolean followsSteps,
        Supplier<Optional<String>> callerSpan) {
    private static final String TASK_QUEUE_SETTING = "WAYMARK_TASK_QUEUE";

    /** Opens a connection, and uses the task queue in {@code WAYMARK_TASK_QUEUE}, or the default one. */
    static ClientContext connected(Supplier<Connection> connecting) {
        String taskQueue = Optional.ofNullable(ProcessEnvironment.get().get(TASK_QUEUE_SETTING))
                .filter(name -> !name.isBlank())
                .orElse(WireNames.TASK_QUEUE);
        try {
            return of(connecting.get(), taskQueue);
        } catch (KeyProblem e) {
            throw new WaymarkException.Refused(ProblemType.KEY_PROBLEM, String.valueOf(e.getMessage()), Remedy.NONE);
        } catch (ConnectionException e) {
            throw ServerFailures.unreachable(e);
        }
    }

    static ClientContext of(Connection connection, String taskQueue) {
        HistoryReader histories = new HistoryReader(connection.client());
        return new ClientContext(
                connection,
                histories,
                new Requests(connection, histories, taskQueue),
                new ThreadDirectory(connection, histories),
                new ServerFailures(connection.address(), connection.isInMemory()),
                new ThreadFeeds(),
                new WorkerWords(connection),
                Optional.empty(),
                Callbacks.NONE,
                Optional.empty(),
                Optional.empty(),
                OutcomeSaver::log,
                false,
                () -> Optional.ofNullable(ProcessEnvironment.get().get("TRACEPARENT")));
    }

    ClientContext withTimeout(Duration most) {
        return with(edit -> edit.timeout = Optional.of(most));
    }

    ClientContext withCallbacks(UnaryOperator<Callbacks> change) {
        return with(edit -> edit.callbacks = change.apply(callbacks));
    }

    ClientContext signingWith(DecisionKey key) {
        return with(edit -> edit.signing = Optional.of(key));
    }

    ClientContext savingIn(SaveOptions where) {
        return with(edit -> edit.saving = Optional.of(where));
    }

    /** @param everyStep whether the listener also gets the steps of turns */
    ClientContext listening(Consumer<ThreadEvent> other, boolean everyStep) {
        return with(edit -> {
            edit.listener = other;
            edit.followsSteps = everyStep;
        });
    }

    void tell(ThreadEvent event) {
        listener.accept(event);
    }

    /** Returns a context for waits that report nothing to the caller. */
    ClientContext unobserved() {
        return with(edit -> {
            edit.callbacks = Callbacks.NONE;
            edit.saving = Optional.empty();
            edit.listener = event -> {};
            edit.followsSteps = false;
        });
    }

    ClientContext tracedBy(Supplier<Optional<String>> span) {
        return with(edit -> edit.callerSpan = span);
    }

    private ClientContext with(Consumer<Edit> change) {
        Edit edit = new Edit();
        change.accept(edit);
        return edit.done();
    }

    private final class Edit {
        private Optional<Duration> timeout = ClientContext.this.timeout;
        private Callbacks callbacks = ClientContext.this.callbacks;
        private Optional<DecisionKey> signing = ClientContext.this.signing;
        private Optional<SaveOptions> saving = ClientContext.this.saving;
        private Consumer<ThreadEvent> listener = ClientContext.this.listener;
        private boolean followsSteps = ClientContext.this.followsSteps;
        private Supplier<Optional<String>> callerSpan = ClientContext.this.callerSpan;

        private ClientContext done() {
            return new ClientContext(
                    connection,
                    histories,
                    requests,
                    directory,
                    failures,
                    feeds,
                    words,
                    timeout,
                    callbacks,
                    signing,
                    saving,
                    listener,
                    followsSteps,
                    callerSpan);
        }
    }

    WaitDeadline deadline() {
        return WaitDeadline.after(timeout);
    }

    <T> T translated(Supplier<T> request) {
        return failures.translated(request);
    }

    /** Returns the input with which the thread's newest run started. */
    StartInput startInput(String thread) {
        Requests.Known known = requests.get(thread);
        return histories.startInput(thread, known.runId());
    }

    /** The history of a thread, as far as the server still has it. */
    Timeline read(String thread) {
        return histories.readToTheEnd(thread, get(thread).runId());
    }

    /** Returns the newest run of a thread. Throws {@link #missing} if the server does not know the thread. */
    Requests.Known get(String thread) {
        return requests.find(thread).orElseThrow(() -> missing(thread));
    }

    /**
     * Returns the failure for a thread that the server does not know. Its message says whether the saver of this client
     * has the thread.
     */
    WaymarkException missing(String thread) {
        boolean isSaved = saving.isPresent() && new SavedThread(this, thread).exists();
        return isSaved ? Requests.onlySaved(thread) : Requests.noSuchThread(thread);
    }

    /** Reads a thread up to a version ({@code 3}) or an event ({@code e42}, {@code RUN/e42}). */
    Timeline read(String thread, String place) {
        Timeline timeline = read(thread);
        Moment moment = timeline.at(place)
                .orElseThrow(() -> new WaymarkException.NotFound(
                        "no such version: " + place, Remedy.of(Remedy.Action.LIST_VERSIONS, thread)));
        return timeline.upTo(moment);
    }

    /** The words of the replies that a thread waits for. */
    LiveText liveText(String thread) {
        return new LiveText(connection, histories, words, thread);
    }

    MomentStream moments(String thread, String runId) {
        return new MomentStream(connection, histories, thread, runId);
    }
}
