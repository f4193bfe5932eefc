package dev.waymark.client;

import dev.waymark.client.ThreadEvent.TextDelta;
import dev.waymark.client.connection.ServerTime;
import dev.waymark.client.connection.WorkerWords;
import dev.waymark.codec.KeyStoreException;
import dev.waymark.codec.ThreadForgottenException;
import dev.waymark.connect.Connection;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.message.InboundDecoder;
import dev.waymark.contract.work.PartialReply;
import dev.waymark.contract.work.PartialReply.Piece;
import dev.waymark.contract.work.WordsReport;
import dev.waymark.contract.work.WordsRequest;
import dev.waymark.history.HistoryReader;
import dev.waymark.timeline.Moment;
import io.temporal.api.common.v1.Payloads;
import io.temporal.api.workflow.v1.PendingActivityInfo;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionResponse;
import io.temporal.common.converter.DataConverter;
import io.temporal.common.converter.DataConverterException;
import io.temporal.payload.codec.PayloadCodecException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Reads the partial text and reasoning of the reply that a thread waits for, and the calls that run with it. The
 * description of the thread has the details of the last heartbeat, which name the worker to ask for newer text. Not
 * thread-safe.
 */
final class LiveText {
    private static final long UNTIL_IT_SPEAKS_MILLIS = 50;

    /** Reads more slowly if a model thinks for a long time, or a provider requests a long wait. */
    private static final long WHILE_IT_IS_SILENT_MILLIS = 500;

    private static final int SILENT_AFTER_READS = 60;

    /** The pause before the next description, as a multiple of the time that the last one took: a slow server is busy. */
    private static final long PAUSE_PER_READ = 4;

    private final Connection connection;
    private final HistoryReader histories;
    private final WorkerWords workers;
    private final String thread;

    private Optional<Moment> call = Optional.empty();
    private Heard heard = Heard.NOTHING;
    private List<PartialReply.RunningCall> running = List.of();
    /** The task queue of the worker that has the text. */
    private Optional<String> queue = Optional.empty();

    private int silentReads;
    private long lookedAt = System.nanoTime();
    private long tookMillis;
    private Optional<CompletableFuture<DescribeWorkflowExecutionResponse>> described = Optional.empty();
    private Optional<CompletableFuture<Optional<WordsReport.News>>> queried = Optional.empty();

    /** @param workers shared by all threads that this process follows */
    LiveText(Connection connection, HistoryReader histories, WorkerWords workers, String thread) {
        this.connection = connection;
        this.histories = histories;
        this.workers = workers;
        this.thread = thread;
    }

    /**
     * How much of an attempt has been reported.
     *
     * @param characters the length of its text
     * @param reasoning the length of its reasoning
     */
    record Heard(int attempt, int characters, int reasoning) {
        static final Heard NOTHING = new Heard(0, 0, 0);

        /** Whether the reply belongs to an attempt before the one that has been reported. */
        boolean isPast(PartialReply reply) {
            return reply.attempt() < attempt;
        }

        /**
         * Returns the text that has not been reported yet. The server may no longer have the beginning of a long reply.
         * An empty text tells the caller to discard the text of an earlier attempt.
         */
        Optional<Piece> newText(PartialReply reply) {
            boolean another = reply.attempt() > attempt;
            Piece text = reply.said().after(another ? 0 : characters);
            boolean takesBack = another && (characters > 0 || reasoning > 0);
            return Optional.of(text).filter(said -> !said.text().isEmpty() || takesBack);
        }

        /** Returns the reasoning that has not been reported yet. */
        Optional<Piece> newReasoning(PartialReply reply) {
            int known = reply.attempt() > attempt ? 0 : reasoning;
            return reply.reasoning()
                    .map(shown -> shown.after(known))
                    .filter(shown -> !shown.text().isEmpty());
        }

        /**
         * A copy that includes this reasoning. Never moves backward, because a heartbeat may be older than the worker's
         * last answer.
         */
        Heard andReasoning(PartialReply reply) {
            int end = reply.reasoning().map(Piece::end).orElse(0);
            return reply.attempt() > attempt
                    ? new Heard(reply.attempt(), 0, end)
                    : new Heard(attempt, characters, Math.max(reasoning, end));
        }

        /** A copy that includes this text. */
        Heard andText(PartialReply reply) {
            return new Heard(attempt, Math.max(characters, reply.said().end()), reasoning);
        }
    }

    /** Updates the state with the newest moment of the thread. */
    void follow(Moment moment) {
        if (!moment.state().modelCalled()) {
            call = Optional.empty();
            cancel();
        } else if (call.isEmpty() || stepOf(call.get()) != stepOf(moment)) {
            call = Optional.of(moment);
            heard = Heard.NOTHING;
            running = List.of();
            silentReads = 0;
            cancel();
        }
    }

    private static int stepOf(Moment moment) {
        return moment.state().counters().steps();
    }

    /** Skips the part of the current reply that another watch has already reported. */
    void resume(Heard told) {
        if (call.isPresent()) {
            heard = told;
        }
    }

    /** Returns the milliseconds until {@link #ask} sends a request; {@code Long.MAX_VALUE} if it has none to send. */
    long millisToNext() {
        if (call.isEmpty() || isAsked() || queue.isPresent()) {
            return Long.MAX_VALUE;
        }
        long least = silentReads > SILENT_AFTER_READS ? WHILE_IT_IS_SILENT_MILLIS : UNTIL_IT_SPEAKS_MILLIS;
        long interval = Math.max(least, PAUSE_PER_READ * tookMillis);
        long since = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - lookedAt);
        return Math.max(0, interval - since);
    }

    private boolean isAsked() {
        return described.isPresent() || queried.isPresent();
    }

    /**
     * Requests new text for {@link #tell}, if that is due. Completes when there is an answer or the request has failed;
     * never completes if no request is pending.
     */
    CompletableFuture<?> ask() {
        if (call.isPresent() && !isAsked()) {
            if (queue.isPresent()) {
                queried = Optional.of(workers.next(queue.get(), request(call.get())));
            } else if (millisToNext() == 0) {
                lookedAt = System.nanoTime();
                described = Optional.of(histories.askToDescribe(thread));
            }
        }
        return queried.<CompletableFuture<?>>map(answer -> answer)
                .or(() -> described)
                .orElseGet(CompletableFuture::new);
    }

    private WordsRequest.Call request(Moment asked) {
        return new WordsRequest.Call(
                thread,
                asked.runId(),
                stepOf(asked),
                heard.attempt(),
                heard.characters(),
                heard.reasoning(),
                running.size());
    }

    /** Reports what {@link #ask} requested, once it has arrived. */
    void tell(Consumer<ThreadEvent> listener) {
        Optional<PartialReply> reply = Optional.empty();
        Instant at = Instant.now();
        if (queried.filter(CompletableFuture::isDone).isPresent()) {
            reply = spoken(queried.get().join());
            queried = Optional.empty();
        } else if (described.filter(CompletableFuture::isDone).isPresent()) {
            Optional<PendingActivityInfo> activity = activity(described.get());
            described = Optional.empty();
            tookMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - lookedAt);
            lookedAt = System.nanoTime();
            silentReads++;
            reply = activity.flatMap(known -> call.flatMap(asked -> details(known, stepOf(asked))));
            queue = reply.flatMap(PartialReply::queue);
            at = activity.map(known -> ServerTime.instant(known.getLastHeartbeatTime()))
                    .orElse(at);
        }
        if (reply.isPresent() && call.isPresent()) {
            tell(listener, call.get(), at, reply.get());
        }
    }

    private void tell(Consumer<ThreadEvent> listener, Moment asked, Instant at, PartialReply reply) {
        if (reply.step() != stepOf(asked) || heard.isPast(reply)) {
            return;
        }
        Optional<TextDelta> words = heard.newText(reply).map(said -> delta(asked, at, reply, said));
        Optional<TextDelta> reasoning = heard.newReasoning(reply).map(shown -> delta(asked, at, reply, shown));
        boolean runs = !reply.running().equals(running);
        running = reply.running();
        if (words.isPresent() || reasoning.isPresent() || runs) {
            silentReads = 0;
        }
        heard = heard.andReasoning(reply);
        reasoning.ifPresent(shown -> listener.accept(new ThreadEvent.Reasoned(shown)));
        heard = heard.andText(reply);
        words.ifPresent(said -> listener.accept(new ThreadEvent.Said(said)));
        if (runs) {
            listener.accept(
                    new ThreadEvent.CallsRunning(asked.runId(), asked.eventId(), at, reply.attempt(), running(reply)));
        }
    }

    private static List<ThreadEvent.RunningCall> running(PartialReply reply) {
        return reply.running().stream()
                .map(call -> new ThreadEvent.RunningCall(call.callId(), call.tool()))
                .toList();
    }

    private static TextDelta delta(Moment asked, Instant at, PartialReply reply, Piece piece) {
        return new TextDelta(asked.runId(), asked.eventId(), at, reply.attempt(), piece.from(), piece.text());
    }

    /** How much of the reply has been reported, up to the piece that is being reported now. */
    Heard heard() {
        return heard;
    }

    /** The worker's answer. If there is none, the next description names the worker to ask. */
    private Optional<PartialReply> spoken(Optional<WordsReport.News> news) {
        Optional<PartialReply> reply = decoded(() -> news.map(fresh -> fresh.decoded(converter())));
        if (reply.isEmpty()) {
            queue = Optional.empty();
            lookedAt = System.nanoTime();
        }
        return reply;
    }

    private static Optional<PendingActivityInfo> activity(CompletableFuture<DescribeWorkflowExecutionResponse> answer) {
        try {
            return activity(answer.join());
        } catch (CompletionException | CancellationException e) {
            // The reader of the thread's history reports the outage; partial text is optional.
            return Optional.empty();
        }
    }

    private static Optional<PendingActivityInfo> activity(DescribeWorkflowExecutionResponse description) {
        return description.getPendingActivitiesList().stream()
                .filter(activity -> activity.getActivityType().getName().equals(WireNames.MODEL_ACTIVITY))
                .filter(PendingActivityInfo::hasHeartbeatDetails)
                .findFirst();
    }

    /** The details of the last heartbeat, if it is about the model call with this number. */
    private Optional<PartialReply> details(PendingActivityInfo activity, int step) {
        return details(activity).filter(reply -> reply.step() == step);
    }

    private Optional<PartialReply> details(PendingActivityInfo activity) {
        Optional<Payloads> details = Optional.of(activity.getHeartbeatDetails());
        return decoded(() ->
                Optional.ofNullable(converter().fromPayloads(0, details, PartialReply.class, PartialReply.class)));
    }

    /** Empty if this client cannot read the reply, or cannot at the moment. */
    private static Optional<PartialReply> decoded(Supplier<Optional<PartialReply>> reading) {
        try {
            return reading.get();
        } catch (DataConverterException | PayloadCodecException | KeyStoreException | ThreadForgottenException e) {
            return Optional.empty();
        }
    }

    private DataConverter converter() {
        return PayloadJson.dataConverter(connection.client(), thread);
    }

    /** Asks the server which calls of the reply to this model call run now. */
    List<ThreadEvent.RunningCall> running(int step) {
        return histories
                .describe(thread)
                .flatMap(LiveText::activity)
                .flatMap(activity -> details(activity, step))
                .map(LiveText::running)
                .orElse(List.of());
    }

    /**
     * Asks the server for the text of the reply at the last heartbeat, or for its end if it is too long for a stop.
     * Empty if there is none, or if the server does not know it.
     */
    Optional<String> said() {
        return activity(histories.askToDescribe(thread))
                .flatMap(this::details)
                .map(reply -> end(reply.text()))
                .filter(text -> !text.isBlank());
    }

    private static String end(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int from = Math.max(0, bytes.length - InboundDecoder.MAX_SAID_BYTES);
        while (from > 0 && (bytes[from] & 0xC0) == 0x80) { // In the middle of a character.
            from++;
        }
        return new String(bytes, from, bytes.length - from, StandardCharsets.UTF_8);
    }

    void cancel() {
        described.ifPresent(answer -> answer.cancel(true));
        queried.ifPresent(answer -> answer.cancel(true));
        described = Optional.empty();
        queried = Optional.empty();
        queue = Optional.empty();
    }
}
