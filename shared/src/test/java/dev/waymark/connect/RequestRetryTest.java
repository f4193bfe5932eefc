package dev.waymark.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

class RequestRetryTest {
    private final List<Long> sent = new ArrayList<>();
    private final Deque<Status> failures = new ArrayDeque<>();

    private String send(Duration longest) throws InterruptedException {
        return RequestRetry.every(Duration.ofMillis(1), longest, ServerAnswer::mayPass)
                .send(left -> {
                    sent.add(left);
                    if (!failures.isEmpty()) {
                        throw failures.removeFirst().asRuntimeException();
                    }
                    return "answer";
                });
    }

    @Test
    void transientFailures_areRetriedWithTheRemainingTime() throws Exception {
        failures.addAll(List.of(Status.UNAVAILABLE, Status.RESOURCE_EXHAUSTED, Status.UNKNOWN));

        assertThat(send(Duration.ofMinutes(1))).isEqualTo("answer");

        assertThat(sent).hasSize(4).isSortedAccordingTo((one, other) -> Long.compare(other, one));
        assertThat(sent.get(0)).isGreaterThan(59_000);
    }

    @Test
    void permanentFailure_isThrownAtOnce() {
        failures.addAll(List.of(Status.UNAVAILABLE, Status.NOT_FOUND));

        assertThatThrownBy(() -> send(Duration.ofMinutes(1)))
                .isInstanceOfSatisfying(
                        StatusRuntimeException.class,
                        e -> assertThat(e.getStatus()).isEqualTo(Status.NOT_FOUND));
        assertThat(sent).hasSize(2);
    }

    @Test
    void send_timeIsUp_throwsTheLastFailure() {
        failures.addAll(List.of(Status.UNAVAILABLE, Status.UNAVAILABLE));

        assertThatThrownBy(() -> send(Duration.ZERO)).isInstanceOf(StatusRuntimeException.class);
        assertThat(sent).containsExactly(1L);
    }

    @Test
    void send_interrupted_givesUp() {
        failures.add(Status.UNAVAILABLE);
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> send(Duration.ofMinutes(1))).isInstanceOf(InterruptedException.class);
    }
}
