package dev.waymark.worker.announce.delivery;

import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.contract.work.AnnounceInput;
import dev.waymark.conversation.policy.AnnouncedEvent;
import dev.waymark.conversation.state.Announcement;
import dev.waymark.conversation.state.AnnouncementPlan.Occasion;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.display.SafeText;
import dev.waymark.worker.activity.Heartbeat;
import dev.waymark.worker.announce.Receiver;
import dev.waymark.worker.announce.Receivers;
import dev.waymark.worker.metrics.AttemptMetrics;
import dev.waymark.worker.secret.LogSecrets;
import io.temporal.activity.Activity;
import io.temporal.activity.ActivityExecutionContext;
import io.temporal.failure.ApplicationErrorCategory;
import io.temporal.failure.ApplicationFailure;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the announcements about one subject to one receiver. Between two announcements, and after a failure, the
 * attempt fails and sets the time of its retry. Retries add no events to history, so a request can be announced for
 * weeks. Heartbeats tell the next attempt what has been sent.
 */
public final class AnnounceActivityImpl implements AnnounceActivity, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AnnounceActivityImpl.class);

    private static final Duration SOONEST = Duration.ofSeconds(1);
    private static final int MOST_DOUBLINGS = 10;

    private final Receivers receivers;
    private final AttemptMetrics metrics;
    private final Map<String, ReceiverLine> lines = new ConcurrentHashMap<>();
    private final ReceiverClient client = new ReceiverClient(ProcessEnvironment.get());

    public AnnounceActivityImpl(Receivers receivers, AttemptMetrics metrics) {
        this.receivers = receivers;
        // Masks the values of variables that receivers use in the log of this process.
        receivers
                .byName()
                .values()
                .forEach(receiver -> LogSecrets.ofThisProcess().learn(ReceiverClient.texts(receiver), Set.of()));
        this.metrics = metrics;
    }

    /**
     * The progress of the plan.
     *
     * @param sent the number of occasions that have been sent or left out
     * @param failures how often the next announcement has failed
     */
    record Progress(int sent, int failures) {
        static final Progress NONE = new Progress(0, 0);
    }

    /** The progress of a running attempt, which heartbeats read in another thread. */
    private static final class SendProgress {
        private volatile Progress current;
        private boolean hasSent;

        SendProgress(Progress current) {
            this.current = current;
        }
    }

    @Override
    public int announce(AnnounceInput input) {
        ActivityExecutionContext context = Activity.getExecutionContext();
        SendProgress progress =
                new SendProgress(context.getHeartbeatDetails(Progress.class).orElse(Progress.NONE));
        try (Heartbeat heartbeat = Heartbeat.showing(() -> progress.current)) {
            try {
                carryOut(input, context, heartbeat, progress);
            } catch (InterruptedException e) {
                throw heartbeat.cancellation(e);
            }
        }
        return progress.current.sent();
    }

    private void carryOut(
            AnnounceInput input, ActivityExecutionContext context, Heartbeat heartbeat, SendProgress progress)
            throws InterruptedException {
        String name = input.what().receiver();
        Instant begun = Instant.now();
        Instant due = Instant.ofEpochMilli(context.getInfo().getCurrentAttemptScheduledTimestamp());
        // Uses the later clock: a test server's clock may run ahead, and after an outage the attempt starts late.
        Duration elapsed = Duration.between(input.what().from(), begun.isAfter(due) ? begun : due);
        List<Occasion> occasions = input.what().plan().occasions();
        Optional<Receiver> known = Optional.ofNullable(receivers.byName().get(name));
        if (known.isEmpty()) {
            throw failed(
                    progress, heartbeat, input, ProblemType.NO_RECEIVER, "this worker has no receiver of this name");
        }
        Receiver receiver = known.get();
        boolean isRepeated = input.what().progress() == Announcement.Progress.DUE_AGAIN;
        if (isRepeated && progress.current.equals(Progress.NONE)) {
            progress.current = new Progress(newest(occasions, elapsed), 0);
        }
        while (progress.current.sent() < occasions.size()) {
            int next = next(occasions, progress.current.sent(), elapsed);
            Occasion occasion = occasions.get(next);
            if (occasion.after().compareTo(elapsed) > 0) {
                reportProgress(heartbeat);
                throw retryLater(
                        ProblemType.NOT_DUE,
                        occasion.event().wireName() + " is due at "
                                + input.what().from().plus(occasion.after()),
                        occasion.after().minus(elapsed));
            }
            Notice notice = Notice.of(input, occasion, context.getInfo().getWorkflowId(), receivers.publicUrl());
            Optional<String> failure = send(receiver, notice, name, heartbeat, progress);
            metrics.announced(name, notice.type(), failure.isEmpty());
            if (failure.isPresent()) {
                progress.current = new Progress(next, progress.current.failures());
                throw failed(progress, heartbeat, input, ProblemType.NOT_RECEIVED, failure.get());
            }
            progress.current = new Progress(next + 1, 0);
            progress.hasSent = true;
            heartbeat.sendAtOnce();
        }
    }

    /** Sends a notice, or ends the attempt if too many notices are being sent to the receiver. */
    private Optional<String> send(
            Receiver receiver, Notice notice, String name, Heartbeat heartbeat, SendProgress progress)
            throws InterruptedException {
        ReceiverLine line = lines.computeIfAbsent(name, each -> new ReceiverLine());
        long began = System.nanoTime();
        Optional<Duration> pause = line.enter(began);
        if (pause.isPresent()) {
            if (progress.hasSent) {
                reportProgress(heartbeat);
            }
            throw retryLater(
                    ProblemType.IN_LINE,
                    ReceiverLine.MOST_AT_ONCE + " others are being sent to " + name,
                    limited(pause.get()));
        }
        try {
            return client.send(receiver, notice);
        } finally {
            line.leave(began, System.nanoTime());
        }
    }

    /** Reports the progress of this attempt to the server, and ends the attempt if it has been cancelled. */
    private static void reportProgress(Heartbeat heartbeat) {
        heartbeat.finish();
        if (heartbeat.isCancelled()) {
            throw heartbeat.cancellation(new InterruptedException());
        }
    }

    /** Records a failure. The delay before the next attempt grows with the number of failures. */
    private static RuntimeException failed(
            SendProgress progress, Heartbeat heartbeat, AnnounceInput input, String type, String why) {
        int failures = progress.current.failures() + 1;
        progress.current = new Progress(progress.current.sent(), failures);
        reportProgress(heartbeat);
        Duration pause = pause(failures);
        String name = input.what().receiver();
        LOG.warn(
                "announcement {} of {} did not reach {}: {}. Next try in {} s",
                input.what().number(),
                SafeText.line(Activity.getExecutionContext().getInfo().getWorkflowId()),
                name,
                why,
                pause.toSeconds());
        return retryLater(type, name + ": " + why, pause);
    }

    /** The index of the next occasion. A reminder is skipped if a newer one is due. */
    static int next(List<Occasion> occasions, int sent, Duration elapsed) {
        int next = sent;
        while (isSuperseded(occasions, next, elapsed)) {
            next++;
        }
        return next;
    }

    private static boolean isSuperseded(List<Occasion> occasions, int index, Duration elapsed) {
        return occasions.get(index).event() == AnnouncedEvent.REMINDER
                && occasions.subList(index + 1, occasions.size()).stream()
                        .anyMatch(later -> later.event() == AnnouncedEvent.REMINDER
                                && later.after().compareTo(elapsed) <= 0);
    }

    /** The index of the newest due occasion, at which a repeated announcement resumes. */
    static int newest(List<Occasion> occasions, Duration elapsed) {
        int due = (int) occasions.stream()
                .filter(each -> each.after().compareTo(elapsed) <= 0)
                .count();
        return Math.max(0, due - 1);
    }

    private static Duration pause(int failures) {
        Duration doubled = SOONEST.multipliedBy(1L << Math.min(failures - 1, MOST_DOUBLINGS));
        return limited(doubled);
    }

    private static Duration limited(Duration pause) {
        return pause.compareTo(Announcement.LONGEST_PAUSE) < 0 ? pause : Announcement.LONGEST_PAUSE;
    }

    /** A failure that the SDK does not log: it is expected, or logged here. */
    private static RuntimeException retryLater(String type, String words, Duration pause) {
        return ApplicationFailure.newBuilder()
                .setType(type)
                .setMessage(words)
                .setNextRetryDelay(pause.compareTo(SOONEST) < 0 ? SOONEST : pause)
                .setCategory(ApplicationErrorCategory.BENIGN)
                .build();
    }

    @Override
    public void close() {
        client.close();
    }
}
