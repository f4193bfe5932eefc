package dev.waymark.client.watch;

import dev.waymark.client.connection.ServerTime;
import dev.waymark.connect.Connection;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.work.PartialReply;
import dev.waymark.history.HistoryReader;
import dev.waymark.history.Moment;
import io.temporal.api.workflow.v1.PendingActivityInfo;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionResponse;
import io.temporal.common.converter.DataConverterException;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/** Polls the partial text of the reply that a thread waits for. Not thread-safe. */
public final class LiveText {
    private static final long WHILE_IT_SPEAKS_MILLIS = 50;

    /** Polls more slowly if a model thinks for a long time, or a provider requests a long wait. */
    private static final long WHILE_IT_IS_SILENT_MILLIS = 500;

    private static final int SILENT_AFTER_POLLS = 60;

    /** The pause before the next poll, as a multiple of the time that the last response took: a slow server is busy. */
    private static final long PAUSE_PER_POLL = 4;

    private final Connection connection;
    private final HistoryReader histories;
    private final String thread;

    private Optional<Moment> call = Optional.empty();
    private Heard heard = Heard.NOTHING;
    private int silentPolls;
    private long lookedAt = System.nanoTime();
    private long tookMillis;
    private Optional<CompletableFuture<DescribeWorkflowExecutionResponse>> asked = Optional.empty();

    public LiveText(Connection connection, HistoryReader histories, String thread) {
        this.connection = connection;
        this.histories = histories;
        this.thread = thread;
    }

    /** A piece of text, and the number of characters of the attempt before it. */
    public record Words(int from, String text) {}

    /** How much of an attempt has been reported. */
    public record Heard(int attempt, int characters) {
        public static final Heard NOTHING = new Heard(0, 0);

        /**
         * Returns the text that has not been reported yet. The server may no longer have the beginning of a long reply.
         * An empty text tells the caller to discard the text of an earlier attempt.
         */
        Optional<Words> newIn(PartialReply reply) {
            if (reply.attempt() < attempt) {
                return Optional.empty();
            }
            boolean another = reply.attempt() > attempt;
            int known = another ? 0 : Math.max(0, characters - reply.from());
            int skipped = Math.min(known, reply.text().length());
            String text = reply.text().substring(skipped);
            boolean takesBack = another && characters > 0;
            return text.isEmpty() && !takesBack
                    ? Optional.empty()
                    : Optional.of(new Words(reply.from() + skipped, text));
        }

        public Heard and(PartialReply reply) {
            return reply.attempt() < attempt
                    ? this
                    : new Heard(reply.attempt(), reply.from() + reply.text().length());
        }
    }

    /** Updates the state with the newest moment of the thread. */
    public void follow(Moment moment) {
        if (!moment.state().modelCalled()) {
            call = Optional.empty();
        } else if (call.isEmpty() || stepOf(call.get()) != stepOf(moment)) {
            call = Optional.of(moment);
            heard = Heard.NOTHING;
            silentPolls = 0;
        }
    }

    private static int stepOf(Moment moment) {
        return moment.state().counters().steps();
    }

    /** Skips the part of the current reply that another watch has already reported. */
    public void resume(Heard told) {
        if (call.isPresent()) {
            heard = told;
        }
    }

    /** Returns whether a model call is running. */
    public boolean areDue() {
        return call.isPresent();
    }

    /** Returns whether a request of {@link #ask} is pending, or its response was not taken yet. */
    public boolean isAsked() {
        return asked.isPresent();
    }

    /** Returns the milliseconds until the next poll is due. */
    public long millisToNext() {
        long least = silentPolls > SILENT_AFTER_POLLS ? WHILE_IT_IS_SILENT_MILLIS : WHILE_IT_SPEAKS_MILLIS;
        long interval = Math.max(least, PAUSE_PER_POLL * tookMillis);
        long since = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - lookedAt);
        return Math.max(0, interval - since);
    }

    /** Polls if a poll is due, and returns the text since the last poll; empty if there is none. */
    public Optional<TextDelta> next() {
        if (call.isEmpty() || millisToNext() > 0) {
            return Optional.empty();
        }
        ask();
        return take(asked.orElseThrow());
    }

    /**
     * Requests the text for {@link #take()} if a poll is due. Completes when the server has answered or the request has
     * failed; never completes if no request is pending.
     */
    public CompletableFuture<?> ask() {
        if (asked.isEmpty() && call.isPresent() && millisToNext() == 0) {
            lookedAt = System.nanoTime();
            asked = Optional.of(histories.askToDescribe(thread));
        }
        return asked.<CompletableFuture<?>>map(answer -> answer).orElseGet(CompletableFuture::new);
    }

    /** Returns the text that {@link #ask} requested, once it has arrived. */
    public Optional<TextDelta> take() {
        return asked.filter(CompletableFuture::isDone).flatMap(this::take);
    }

    private Optional<TextDelta> take(CompletableFuture<DescribeWorkflowExecutionResponse> answer) {
        Optional<TextDelta> words = read(answer);
        asked = Optional.empty();
        tookMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - lookedAt);
        lookedAt = System.nanoTime();
        silentPolls = words.isPresent() ? 0 : silentPolls + 1;
        return words;
    }

    private Optional<TextDelta> read(CompletableFuture<DescribeWorkflowExecutionResponse> answer) {
        try {
            DescribeWorkflowExecutionResponse now = answer.join();
            return call.flatMap(moment -> now.getPendingActivitiesList().stream()
                    .filter(activity -> activity.getActivityType().getName().equals(WireNames.MODEL_ACTIVITY))
                    .findFirst()
                    .flatMap(activity -> delta(moment, activity)));
        } catch (CompletionException | DataConverterException e) {
            // The reader of the thread's history reports the outage; partial text is optional.
            return Optional.empty();
        }
    }

    /** Cancels the pending request. */
    public void cancel() {
        asked.ifPresent(answer -> answer.cancel(true));
    }

    private Optional<TextDelta> delta(Moment asked, PendingActivityInfo activity) {
        if (!activity.hasHeartbeatDetails()) {
            return Optional.empty();
        }
        PartialReply reply = PayloadJson.dataConverter(connection.client(), thread)
                .fromPayloads(0, Optional.of(activity.getHeartbeatDetails()), PartialReply.class, PartialReply.class);
        if (reply == null || reply.step() != stepOf(asked)) {
            return Optional.empty();
        }
        Instant at = ServerTime.instant(activity.getLastHeartbeatTime());
        Optional<TextDelta> words = heard.newIn(reply)
                .map(said ->
                        new TextDelta(asked.runId(), asked.eventId(), at, reply.attempt(), said.from(), said.text()));
        heard = heard.and(reply);
        return words;
    }
}
