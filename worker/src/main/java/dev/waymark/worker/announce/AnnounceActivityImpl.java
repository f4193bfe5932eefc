package dev.waymark.worker.announce;

import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.contract.work.AnnounceInput;
import dev.waymark.conversation.policy.AnnouncedEvent;
import dev.waymark.conversation.state.AnnouncementPlan.Occasion;
import dev.waymark.conversation.value.Problem;
import dev.waymark.worker.activity.ActivityProblems;
import dev.waymark.worker.activity.Heartbeat;
import dev.waymark.worker.metrics.AttemptMetrics;
import io.temporal.activity.Activity;
import io.temporal.activity.ActivityExecutionContext;
import io.temporal.failure.ApplicationErrorCategory;
import io.temporal.failure.ApplicationFailure;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells one receiver about one subject. Between two announcements, and after a failure, the attempt fails and names the
 * time of the next one: retries are not in history, so a request can be announced for weeks without events. Heartbeats
 * carry what has been sent to the next attempt.
 */
public final class AnnounceActivityImpl implements AnnounceActivity, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AnnounceActivityImpl.class);

    /** Failure types. The server shows them while the activity waits, and histories contain the last one. */
    private static final String NOT_DUE = "NotDue";

    private static final String NO_RECEIVER = "NoReceiver";
    private static final String NOT_RECEIVED = "NotReceived";

    private static final Duration SOONEST = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(10);
    private static final int MOST_DOUBLINGS = 10;

    private final Receivers receivers;
    private final AttemptMetrics metrics;
    private final ReceiverClient client = new ReceiverClient(ProcessEnvironment.get());

    public AnnounceActivityImpl(Receivers receivers, AttemptMetrics metrics) {
        this.receivers = receivers;
        this.metrics = metrics;
    }

    /**
     * How far the plan has been carried out.
     *
     * @param sent the number of occasions that are behind us
     * @param failures how often the next announcement has failed
     */
    record Progress(int sent, int failures) {}

    /** The progress of a running attempt, which heartbeats read in another thread. */
    private static final class Course {
        private volatile Progress progress;

        Course(Progress progress) {
            this.progress = progress;
        }
    }

    @Override
    public int announce(AnnounceInput input) {
        ActivityExecutionContext context = Activity.getExecutionContext();
        Course course = new Course(context.getHeartbeatDetails(Progress.class).orElse(new Progress(0, 0)));
        try (Heartbeat heartbeat = Heartbeat.showing(() -> course.progress)) {
            try {
                carryOut(input, context, heartbeat, course);
            } catch (InterruptedException e) {
                throw heartbeat.cancellation(e);
            }
        }
        return course.progress.sent();
    }

    private void carryOut(AnnounceInput input, ActivityExecutionContext context, Heartbeat heartbeat, Course course)
            throws InterruptedException {
        String name = input.what().receiver();
        Receiver receiver = receivers
                .find(name)
                .orElseThrow(() -> ActivityProblems.passing(
                        new Problem(NO_RECEIVER, "this worker has no receiver \"" + name + "\" in its settings"),
                        Optional.of(LONGEST_PAUSE)));
        // The server's clock, like that of the plan: on a test's server, time may pass faster than here.
        Duration elapsed = Duration.between(
                input.what().from(), Instant.ofEpochMilli(context.getInfo().getCurrentAttemptScheduledTimestamp()));
        List<Occasion> occasions = input.what().plan().occasions();
        while (course.progress.sent() < occasions.size()) {
            int next = next(occasions, course.progress.sent(), elapsed);
            Occasion occasion = occasions.get(next);
            if (occasion.after().compareTo(elapsed) > 0) {
                heartbeat.finish();
                throw later(
                        NOT_DUE,
                        occasion.event().wireName() + " is due at "
                                + input.what().from().plus(occasion.after()),
                        occasion.after().minus(elapsed));
            }
            Message message = Message.of(input, occasion, context.getInfo().getWorkflowId(), receivers.publicUrl());
            Optional<String> failure = client.send(receiver, message);
            metrics.announced(name, message.type(), failure.isEmpty());
            if (failure.isPresent()) {
                int failures = course.progress.failures() + 1;
                course.progress = new Progress(next, failures);
                heartbeat.finish();
                Duration pause = pause(failures);
                LOG.warn(
                        "{} of {} did not reach {}: {}. Next try in {} s",
                        message.type(),
                        context.getInfo().getWorkflowId(),
                        name,
                        failure.get(),
                        pause.toSeconds());
                throw later(NOT_RECEIVED, name + ": " + failure.get(), pause);
            }
            course.progress = new Progress(next + 1, 0);
            heartbeat.tellAtOnce();
        }
    }

    /** The next occasion. Of several reminders that are due, only the newest is sent. */
    static int next(List<Occasion> occasions, int sent, Duration elapsed) {
        int next = sent;
        while (occasions.get(next).event() == AnnouncedEvent.REMINDER
                && next + 1 < occasions.size()
                && occasions.get(next + 1).event() == AnnouncedEvent.REMINDER
                && occasions.get(next + 1).after().compareTo(elapsed) <= 0) {
            next++;
        }
        return next;
    }

    private static Duration pause(int failures) {
        Duration doubled = SOONEST.multipliedBy(1L << Math.min(failures - 1, MOST_DOUBLINGS));
        return doubled.compareTo(LONGEST_PAUSE) < 0 ? doubled : LONGEST_PAUSE;
    }

    /** Benign, so that the SDK neither logs nor counts it: waiting is not a failure, and real failures are logged above. */
    private static RuntimeException later(String type, String words, Duration pause) {
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
