package dev.waymark.client.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
@TestMethodOrder(OrderAnnotation.class)
class WaitThreadsTest {
    private static final int MANY = 1_000;
    private static final int MOST_THREADS = 20;

    private final Executor threads = WaitThreads.forCaller();

    private static long count() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("waymark-wait-"))
                .count();
    }

    /** Runs first, because threads that replaced blocked ones remain for a while. */
    @Test
    @Order(1)
    void manyShortTasks_needFewThreads() {
        AtomicInteger most = new AtomicInteger();
        CompletableFuture<?>[] all = IntStream.range(0, MANY)
                .mapToObj(i -> CompletableFuture.runAsync(
                        () -> WaitThreads.blocking(() -> {
                            if (i % 50 == 0) {
                                most.accumulateAndGet((int) count(), Math::max);
                            }
                            Thread.yield();
                        }),
                        threads))
                .toArray(CompletableFuture<?>[]::new);

        CompletableFuture.allOf(all).join();

        assertThat(most.get()).isBetween(1, MOST_THREADS);
    }

    @Test
    @Order(2)
    void manyBlockingTasks_delayNoOthers_andTheirThreadsEnd() throws Exception {
        CountDownLatch begun = new CountDownLatch(200);
        CountDownLatch goOn = new CountDownLatch(1);
        CompletableFuture<?>[] all = IntStream.range(0, 200)
                .mapToObj(i -> CompletableFuture.runAsync(
                        () -> WaitThreads.blocking(() -> {
                            begun.countDown();
                            await(goOn);
                        }),
                        threads))
                .toArray(CompletableFuture<?>[]::new);

        assertThat(CompletableFuture.supplyAsync(() -> "done", threads).get(30, TimeUnit.SECONDS))
                .isEqualTo("done");
        assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
        goOn.countDown();
        CompletableFuture.allOf(all).join();
        for (int i = 0; i < MANY; i++) {
            CompletableFuture.runAsync(() -> WaitThreads.blocking(() -> {}), threads)
                    .join();
        }
        while (count() > MOST_THREADS) {
            TimeUnit.MILLISECONDS.sleep(200);
        }
    }

    @Test
    void nestedBlocking_runsInTheSameThread_andRethrows() {
        assertThat(CompletableFuture.supplyAsync(
                                () -> WaitThreads.blocking(() -> WaitThreads.blocking(
                                        () -> Thread.currentThread().getName())),
                                threads)
                        .join())
                .startsWith("waymark-wait-");
        assertThatThrownBy(() -> WaitThreads.blocking((Runnable) () -> {
                    throw new IllegalArgumentException("no");
                }))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
