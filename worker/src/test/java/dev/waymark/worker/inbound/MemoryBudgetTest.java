package dev.waymark.worker.inbound;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(180)
class MemoryBudgetTest {
    private final MemoryBudget impatient = new MemoryBudget(2_000, Duration.ZERO);
    private final MemoryBudget budget = new MemoryBudget(2_000, Duration.ofMinutes(1));

    /** The readers take one byte at a time until no reader gets more. */
    @ParameterizedTest
    @CsvSource({"1, 500", "4, 200", "9, 100", "99, 10"})
    void greedyReaders_getEqualSharesAndOneGetsTheOtherHalf(int readers, int bytes) {
        List<MemoryBudget.Share> shares = new ArrayList<>();
        for (int i = 0; i < readers; i++) {
            shares.add(impatient.open());
        }

        List<Integer> held = takeAll(shares);

        assertThat(held.remove(0)).isEqualTo(bytes + 1_000);
        assertThat(held).hasSize(readers - 1).allMatch(each -> each == bytes);
        assertThatCode(() -> impatient.open().take(bytes)).doesNotThrowAnyException();
    }

    private static List<Integer> takeAll(List<MemoryBudget.Share> shares) {
        List<Integer> held = new ArrayList<>();
        shares.forEach(share -> held.add(0));
        boolean more = true;
        while (more) {
            more = false;
            for (int i = 0; i < shares.size(); i++) {
                if (takes(shares.get(i), 1)) {
                    held.set(i, held.get(i) + 1);
                    more = true;
                }
            }
        }
        return held;
    }

    @Test
    void closedShare_isFreeAgain() throws Exception {
        MemoryBudget.Share first = impatient.open();
        first.take(500);
        first.take(1_000);
        first.close();

        assertThatCode(() -> impatient.open().take(500)).doesNotThrowAnyException();
        assertThatCode(() -> impatient.open().take(1_000)).doesNotThrowAnyException();
        assertThatThrownBy(() -> first.take(1)).isInstanceOf(MemoryShortException.class);
    }

    private MemoryBudget.Share largeReader() throws MemoryShortException {
        MemoryBudget.Share share = budget.open();
        share.take(600);
        share.take(600);
        return share;
    }

    @Test
    void secondLargeReader_waitsForTheFirst() throws Exception {
        MemoryBudget.Share first = largeReader();
        MemoryBudget.Share second = budget.open();
        CompletableFuture<Boolean> got = new CompletableFuture<>();
        Thread reader = new Thread(() -> got.complete(takes(second, 600)));
        reader.start();
        Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> reader.getState() == Thread.State.TIMED_WAITING);

        first.close();

        assertThat(got.get()).isTrue();
    }

    @Test
    void waitingReader_shareClosed_fails() throws Exception {
        largeReader();
        MemoryBudget.Share second = budget.open();
        CompletableFuture<Boolean> got = new CompletableFuture<>();
        Thread reader = new Thread(() -> got.complete(takes(second, 600)));
        reader.start();
        Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> reader.getState() == Thread.State.TIMED_WAITING);

        second.close();

        assertThat(got.get()).isFalse();
    }

    @Test
    void waitingReader_interrupted_failsAndStaysInterrupted() throws Exception {
        largeReader();
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        Thread reader = new Thread(() -> {
            boolean got = takes(budget.open(), 600);
            interrupted.complete(!got && Thread.currentThread().isInterrupted());
        });
        reader.start();
        Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> reader.getState() == Thread.State.TIMED_WAITING);

        reader.interrupt();

        assertThat(interrupted.get()).isTrue();
    }

    private static boolean takes(MemoryBudget.Share share, int bytes) {
        try {
            share.take(bytes);
            return true;
        } catch (MemoryShortException e) {
            return false;
        }
    }
}
