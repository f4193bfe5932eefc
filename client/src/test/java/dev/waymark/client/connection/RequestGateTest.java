package dev.waymark.client.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RequestGateTest {
    private final AtomicLong clock = new AtomicLong();
    private final RequestGate gate = new RequestGate(clock::get);
    private final ExecutorService callers = Executors.newCachedThreadPool();

    @AfterEach
    void endCallers() {
        callers.shutdownNow();
    }

    private void answerAfter(Duration time) {
        gate.pass(() -> clock.addAndGet(time.toNanos()));
    }

    @Test
    void crowd_passesAFewAtATime_andAllGetTheirAnswers() throws Exception {
        CountDownLatch open = new CountDownLatch(1);
        AtomicInteger inside = new AtomicInteger();
        List<Future<Integer>> answers = new ArrayList<>();
        for (int i = 0; i < 3 * RequestGate.FIRST; i++) {
            int number = i;
            answers.add(callers.submit(() -> gate.pass(() -> {
                inside.incrementAndGet();
                wait(open);
                return number;
            })));
        }
        while (inside.get() < RequestGate.FIRST) {
            Thread.onSpinWait();
        }
        Thread.sleep(50);
        assertThat(inside).hasValue(RequestGate.FIRST);
        open.countDown();

        for (int i = 0; i < answers.size(); i++) {
            assertThat(answers.get(i).get(10, TimeUnit.SECONDS)).isEqualTo(i);
        }
    }

    private static void wait(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw Sleeper.interrupted(e);
        }
    }

    @Test
    void slowAnswers_narrowTheGate_andFastOnesWidenIt() {
        for (int i = 0; i < 20; i++) {
            answerAfter(Duration.ofSeconds(5));
        }
        assertThat(gate.limit()).isEqualTo(RequestGate.FEWEST);

        for (int i = 0; i < 1_000; i++) {
            answerAfter(Duration.ofMillis(10));
        }
        assertThat(gate.limit()).isBetween(3 * RequestGate.FEWEST, RequestGate.FIRST);
    }

    @Test
    void failure_givesItsPlaceBack() {
        for (int i = 0; i < 2 * RequestGate.FIRST; i++) {
            assertThatThrownBy(() -> gate.pass(() -> {
                        throw Status.UNAVAILABLE.asRuntimeException();
                    }))
                    .isInstanceOf(StatusRuntimeException.class);
        }
    }

    @Test
    void serverThatAnswersNobody_letsNobodyWaitForEver() throws Exception {
        CountDownLatch open = new CountDownLatch(1);
        CountDownLatch inside = new CountDownLatch(RequestGate.FIRST);
        for (int i = 0; i < RequestGate.FIRST; i++) {
            callers.execute(() -> gate.pass(() -> {
                inside.countDown();
                wait(open);
                return true;
            }));
        }
        inside.await();
        Future<Boolean> waiting = callers.submit(() -> gate.pass(() -> true));
        Thread.sleep(50);
        clock.addAndGet(BusyServer.PATIENCE.plusSeconds(1).toNanos());

        assertThatThrownBy(() -> waiting.get(10, TimeUnit.SECONDS))
                .hasCauseInstanceOf(StatusRuntimeException.class)
                .hasMessageContaining("it has not answered the requests before this one");
        open.countDown();
    }
}
