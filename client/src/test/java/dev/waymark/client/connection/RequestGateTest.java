package dev.waymark.client.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.waymark.client.failure.WaymarkException;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RequestGateTest {
    private static final WaitDeadline NEVER = WaitDeadline.after(Optional.empty());
    private static final Duration LOOK = Duration.ofMillis(20);

    private final AtomicLong clock = new AtomicLong();
    private final RequestGate gate = new RequestGate(clock::get, LOOK);
    private final ExecutorService callers = Executors.newCachedThreadPool();
    private final CountDownLatch open = new CountDownLatch(1);
    private final List<Integer> arrived = new CopyOnWriteArrayList<>();

    @AfterEach
    void endCallers() {
        open.countDown();
        callers.shutdown();
    }

    /** Requests that are answered when the latch opens. */
    private List<Future<Integer>> crowd(int size) throws Exception {
        List<Future<Integer>> answers = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            int number = i;
            int before = gate.waiting();
            answers.add(callers.submit(() -> gate.pass(() -> answered(number), NEVER)));
            await().pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(1))
                    .until(() -> arrived.contains(number) || gate.waiting() > before);
        }
        return answers;
    }

    private int answered(int number) {
        arrived.add(number);
        try {
            open.await();
        } catch (InterruptedException e) {
            throw Sleeper.interrupted(e);
        }
        return number;
    }

    @Test
    void manyRequests_passInOrderWithinTheLimit_andAllGetAnswers() throws Exception {
        List<Future<Integer>> answers = crowd(2 * RequestGate.FIRST);
        assertThat(arrived).hasSize(RequestGate.FIRST);
        // Longer than a caller waits between two looks.
        Thread.sleep(5 * LOOK.toMillis());
        Future<Integer> late = callers.submit(() -> gate.pass(() -> answered(-1), NEVER));
        await().atMost(Duration.ofMinutes(1)).until(() -> gate.waiting() == RequestGate.FIRST + 1);
        open.countDown();

        for (int i = 0; i < answers.size(); i++) {
            assertThat(answers.get(i).get(10, TimeUnit.SECONDS)).isEqualTo(i);
        }
        assertThat(late.get(10, TimeUnit.SECONDS)).isEqualTo(-1);
        assertThat(arrived.indexOf(-1)).isGreaterThan(RequestGate.FIRST);
    }

    @Test
    void slowAnswers_lowerTheLimit_andFastOnesRaiseItIfOthersWait() throws Exception {
        for (int i = 0; i < 20; i++) {
            answerAfter(Duration.ofSeconds(5));
        }
        assertThat(gate.limit()).isEqualTo(RequestGate.FEWEST);
        for (int i = 0; i < 1_000; i++) {
            answerAfter(Duration.ofMillis(10));
        }
        assertThat(gate.limit()).isEqualTo(RequestGate.FEWEST);

        List<Future<Integer>> answers = crowd(20 * RequestGate.FEWEST);
        open.countDown();
        for (Future<Integer> answer : answers) {
            answer.get(10, TimeUnit.SECONDS);
        }
        assertThat(gate.limit()).isBetween(RequestGate.FEWEST + 5, 3 * RequestGate.FEWEST);
    }

    private void answerAfter(Duration time) {
        gate.pass(() -> clock.addAndGet(time.toNanos()), NEVER);
    }

    @Test
    void failure_freesItsPlace() {
        for (int i = 0; i < 2 * RequestGate.FIRST; i++) {
            assertThatThrownBy(() -> gate.pass(
                            () -> {
                                throw Status.UNAVAILABLE.asRuntimeException();
                            },
                            NEVER))
                    .isInstanceOf(StatusRuntimeException.class);
        }
    }

    @Test
    void caller_waitsInLineNoLongerThanItsDeadline() throws Exception {
        crowd(RequestGate.FIRST);
        WaitDeadline soon = WaitDeadline.after(Duration.ofMillis(100));

        assertThatThrownBy(() -> gate.pass(() -> true, soon))
                .isInstanceOf(StatusRuntimeException.class)
                .hasMessageContaining("the time was over before the turn of this request");
        assertThat(gate.waiting()).isZero();
    }

    @Test
    void interruptedCaller_leavesTheLine() throws Exception {
        crowd(RequestGate.FIRST);
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> gate.pass(() -> true, NEVER)).isInstanceOf(WaymarkException.WaitInterrupted.class);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(gate.waiting()).isZero();
    }

    @Test
    void serverWithoutAnswers_endsTheWaitsInLine() throws Exception {
        crowd(RequestGate.FIRST);
        Future<Integer> inLine = callers.submit(() -> gate.pass(() -> answered(-1), NEVER));
        await().atMost(Duration.ofMinutes(1)).until(() -> gate.waiting() == 1);
        clock.addAndGet(BusyServer.PATIENCE.plusSeconds(1).toNanos());

        assertThatThrownBy(() -> inLine.get(10, TimeUnit.SECONDS))
                .hasCauseInstanceOf(StatusRuntimeException.class)
                .hasMessageContaining("it has not answered the requests before this one");
    }
}
