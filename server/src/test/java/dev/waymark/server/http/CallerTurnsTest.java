package dev.waymark.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class CallerTurnsTest {
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CallerTurns turns = new CallerTurns(2, 3);
    private final CountDownLatch over = new CountDownLatch(1);

    @AfterEach
    void stop() {
        over.countDown();
        threads.shutdownNow();
    }

    /** Runs tasks of a caller that wait until the test lets them end. */
    private void occupy(String caller) throws InterruptedException {
        CountDownLatch running = new CountDownLatch(2);
        for (int i = 0; i < 2; i++) {
            threads.execute(() -> turns.run(caller, threads, () -> {
                running.countDown();
                awaitEnd();
            }));
        }
        running.await();
    }

    private void awaitEnd() {
        try {
            over.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void requestsBeyondTheLimit_waitWhileOtherCallersRun() throws Exception {
        occupy("ann");
        List<Integer> ran = new ArrayList<>();
        CountDownLatch last = new CountDownLatch(3);
        AtomicInteger bobs = new AtomicInteger();
        for (int i = 0; i < 3; i++) {
            int number = i;
            turns.run("ann", threads, () -> {
                synchronized (ran) {
                    ran.add(number);
                }
                last.countDown();
            });
        }

        turns.run("bob", threads, bobs::incrementAndGet);

        assertThat(bobs).hasValue(1);
        assertThat(ran).isEmpty();
        over.countDown();
        assertThat(last.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(ran).containsExactlyInAnyOrder(0, 1, 2);
    }

    @Test
    void requestsBeyondTheQueue_areRefusedUntilThereIsRoom() throws Exception {
        occupy("ann");
        CountDownLatch waited = new CountDownLatch(3);
        for (int i = 0; i < 3; i++) {
            turns.run("ann", threads, waited::countDown);
        }

        assertThatThrownBy(() -> turns.run("ann", threads, () -> {}))
                .isInstanceOfSatisfying(
                        HttpProblem.class, problem -> assertThat(problem.code()).isEqualTo("TooManyRequests"));
        over.countDown();
        assertThat(waited.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void failedTask_makesRoomForTheNext() {
        for (int i = 0; i < 10; i++) {
            assertThatThrownBy(() -> turns.run("ann", Runnable::run, () -> {
                        throw new IllegalStateException("failed");
                    }))
                    .hasMessage("failed");
        }
        AtomicInteger ran = new AtomicInteger();
        turns.run("ann", Runnable::run, ran::incrementAndGet);

        assertThat(ran).hasValue(1);
    }
}
