package dev.waymark.starter.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import dev.waymark.codec.EncryptionKeys;
import dev.waymark.codec.ThreadKeys;
import dev.waymark.connect.ServerState;
import dev.waymark.conversation.state.UnknownRulesException;
import dev.waymark.conversation.value.ProblemType;
import io.grpc.Status;
import io.temporal.failure.ApplicationFailure;
import io.temporal.internal.logging.LoggerTag;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SafeLogLayoutTest {
    private final LoggerContext context = new LoggerContext();
    private final SafeLogLayout layout = new SafeLogLayout();

    @BeforeEach
    void startLayout() {
        layout.setContext(context);
        layout.setPattern("%msg%n");
        layout.start();
    }

    private String logged(String message, Throwable failure, long second) {
        return logged(message, failure, second, Map.of());
    }

    private String logged(String message, Throwable failure, long second, Map<String, String> tags) {
        LoggingEvent event = new LoggingEvent(
                "any",
                context.getLogger("io.temporal.internal.replay.ReplayWorkflowTaskHandler"),
                Level.WARN,
                message,
                failure,
                null);
        event.setMDCPropertyMap(tags);
        event.setInstant(Instant.ofEpochSecond(second));
        return layout.doLayout(event);
    }

    @Test
    void unavailableKeyStorage_isLoggedOnceInTenSeconds() {
        ThreadKeys keys = ThreadKeys.of(
                        Map.of(ThreadKeys.VARIABLE, "file:no-such-place"),
                        Optional.of(EncryptionKeys.parse("k1:" + "A".repeat(43) + "=")))
                .orElseThrow();
        Throwable away =
                new IllegalStateException(catchThrowable(() -> keys.begin("default", "trip", Optional.empty())));
        String line = "Task of a failed. the keys of threads are not available: there is no directory ";

        assertThat(logged("Task of a failed.", away, 100)).startsWith(line).hasLineCount(1);
        assertThat(logged("Task of b failed.", away, 100)).isEmpty();
        assertThat(logged("Task of a failed.", away, 109)).isEmpty();
        assertThat(logged("Task of a failed.", away, 110)).startsWith(line);
    }

    @Test
    void activitiesWithoutKeys_areLoggedOnceInTenSeconds() {
        Throwable away = ApplicationFailure.newFailure(
                "the keys of threads are not available", ProblemType.KEY_STORE_UNAVAILABLE);

        assertThat(logged("Activity failure.", away, 100)).contains("Activity failure.");
        assertThat(logged("Activity failure.", away, 101)).isEmpty();
    }

    @Test
    void requestCancelledByAStoppedWorker_isOneLine() {
        Throwable cancelled = new CancellationException("The gRPC request was cancelled");

        assertThat(logged("Failure during reporting of activity result.", cancelled, 100))
                .startsWith("Failure during reporting of activity result.")
                .hasLineCount(1);
    }

    @Test
    void threadWithUnknownRules_isLoggedOnlyOnce() {
        Throwable tenth = new IllegalStateException(catchThrowable(() -> UnknownRulesException.unlessKnown(10)));
        Throwable left = ApplicationFailure.newFailure("knows rules 11", ProblemType.UNKNOWN_RULES);

        Map<String, String> trip = Map.of(LoggerTag.WORKFLOW_ID, "trip");
        Map<String, String> other = Map.of(LoggerTag.WORKFLOW_ID, "other");
        assertThat(logged("Task failed.", tenth, 100, trip))
                .startsWith("Thread trip is left to other workers: this thread goes by rules 10; this version of")
                .contains("`waymark checkpoint THREAD --format thread > FILE` with that build")
                .hasLineCount(1);
        assertThat(logged("Task failed.", tenth, 200, trip)).isEmpty();
        assertThat(logged("Activity failure.", left, 201, trip)).isEmpty();
        assertThat(logged("Activity failure.", left, 202, other)).startsWith("Thread other is left to other workers: ");
        assertThat(logged("Task failed again.", tenth, 203)).isEmpty();
    }

    @Test
    void lostServer_isLoggedAtBeginningAndEndOnly() {
        AtomicLong seconds = new AtomicLong(100);
        AtomicReference<ServerState> state = new AtomicReference<>(ServerState.UNREACHABLE);
        Throwable refused = new IllegalStateException(Status.UNAVAILABLE.asRuntimeException());
        Throwable late = Status.DEADLINE_EXCEEDED.asRuntimeException();
        try (ServerOutage outage = ServerOutage.watch(
                new ServerOutage("127.0.0.1:7233", state::get, () -> seconds.get() * 1_000_000_000))) {
            assertThat(logged("A busy server.", late, 100)).contains("A busy server.");
            assertThat(logged("Failure in poller", refused, 100))
                    .startsWith("The Temporal server at 127.0.0.1:7233 does not answer (UNAVAILABLE).")
                    .hasLineCount(1);
            assertThat(logged("Failure in poller", refused, 101)).isEmpty();
            assertThat(logged("Heartbeat failed", late, 102)).isEmpty();
            seconds.set(130);
            assertThat(outage.look()).isEmpty();
            state.set(ServerState.WORKING);
            assertThat(outage.look()).isEmpty();
            seconds.set(131);
            assertThat(logged("Failure in poller: not all services are there", refused, 131))
                    .isEmpty();
            assertThat(outage.look()).isEmpty();
            seconds.set(134);

            assertThat(outage.look())
                    .contains("The Temporal server at 127.0.0.1:7233 works again, after 31 s. 3 more failures were not"
                            + " logged");
            assertThat(logged("Failure in poller", refused, 200)).contains("does not answer");
        }
        assertThat(logged("Failure in poller", refused, 300)).startsWith("Failure in poller");
    }

    @Test
    void serverWithoutDatabase_seenTwice_isLoggedWithoutFailedRequest() {
        AtomicLong seconds = new AtomicLong(100);
        AtomicReference<ServerState> state = new AtomicReference<>(ServerState.WITHOUT_DATABASE);
        ServerOutage outage = new ServerOutage("s:7233", state::get, () -> seconds.get() * 1_000_000_000);

        assertThat(outage.look()).isEmpty();
        assertThat(outage.isOfDatabase()).isFalse();
        assertThat(outage.look())
                .contains(
                        "The Temporal server at s:7233 answers, but cannot reach its database. The worker keeps trying;"
                                + " its threads wait");
        assertThat(outage.isOn()).isTrue();
        assertThat(outage.isOfDatabase()).isTrue();
        assertThat(outage.failed("UNAVAILABLE")).isEmpty();
        assertThat(outage.look()).isEmpty();
        seconds.set(120);
        state.set(ServerState.WORKING);
        assertThat(outage.look()).isEmpty();
        seconds.set(123);

        assertThat(outage.look())
                .contains("The Temporal server at s:7233 works again, after 20 s. 1 more failures were not logged");
        assertThat(outage.isOn()).isFalse();
        assertThat(outage.isOfDatabase()).isFalse();
    }

    @Test
    void otherFailures_areLoggedEachTime() {
        Throwable other = new IllegalStateException("a bug");

        assertThat(logged("Task of a failed.", other, 100)).contains("Task of a failed.");
        assertThat(logged("Task of a failed.", other, 100)).contains("Task of a failed.", "a bug");
    }
}
