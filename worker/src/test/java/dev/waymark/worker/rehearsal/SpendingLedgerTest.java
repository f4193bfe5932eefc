package dev.waymark.worker.rehearsal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.conversation.value.Usd;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpendingLedgerTest {
    private static final Instant NOW = Instant.parse("2026-11-26T04:00:00Z");

    @TempDir
    Path directory;

    private SpendingLedger open() throws Exception {
        return SpendingLedger.open(directory.resolve("new/ledger"), usd("1"), NOW);
    }

    private static Usd usd(String dollars) {
        return Usd.of(new BigDecimal(dollars));
    }

    @Test
    void reservation_countsInFull_untilItIsSettled() throws Exception {
        try (SpendingLedger ledger = open()) {
            long one = ledger.reserve(usd("0.7"));
            assertThat(ledger.spent()).isEqualTo(usd("0.7"));
            ledger.settle(one, usd("0.2"));
            assertThat(ledger.spent()).isEqualTo(usd("0.2"));
        }
    }

    @Test
    void requestThatCouldPassTheCeiling_isRefused() throws Exception {
        try (SpendingLedger ledger = open()) {
            ledger.settle(ledger.reserve(usd("1")), usd("0.5"));

            assertThatThrownBy(() -> ledger.reserve(usd("0.6"))).isInstanceOf(SpendingLedger.CeilingReached.class);
            assertThat(ledger.reserve(usd("0.5"))).isPositive();
        }
    }

    @Test
    void requestThatFitsOnceARunningOneIsSettled_waits() throws Exception {
        try (SpendingLedger ledger = open()) {
            long running = ledger.reserve(usd("0.9"));
            CompletableFuture<Long> second = CompletableFuture.supplyAsync(() -> {
                try {
                    return ledger.reserve(usd("0.9"));
                } catch (SpendingLedger.CeilingReached | InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            ledger.settle(running, usd("0.1"));

            assertThat(second.get(10, TimeUnit.SECONDS)).isNotEqualTo(running);
        }
    }

    /** A killed process leaves reservations of requests that may have been sent and charged. */
    @Test
    void killedProcess_leavesItsReservations_andTheFirstBeginning() throws Exception {
        try (SpendingLedger killed = open()) {
            killed.settle(killed.reserve(usd("0.4")), usd("0.3"));
            killed.reserve(usd("0.5"));
        }
        Files.writeString(directory.resolve("new/ledger"), "{\"reserve\":3,\"us", StandardOpenOption.APPEND);

        try (SpendingLedger next =
                SpendingLedger.open(directory.resolve("new/ledger"), usd("1"), NOW.plusSeconds(60))) {
            assertThat(next.spent()).isEqualTo(usd("0.8"));
            assertThat(next.begun()).isEqualTo(NOW);
            assertThatThrownBy(() -> next.reserve(usd("0.21"))).isInstanceOf(SpendingLedger.CeilingReached.class);
            next.settle(next.reserve(usd("0.2")), usd("0.1"));
        }
        try (SpendingLedger third = open()) {
            assertThat(third.spent()).isEqualTo(usd("0.9"));
        }
    }

    @Test
    void unknownCost_keepsTheReservation() throws Exception {
        try (SpendingLedger ledger = open()) {
            ledger.reserve(usd("0.6"));
            ledger.keep();
            assertThatThrownBy(() -> ledger.reserve(usd("0.5"))).isInstanceOf(SpendingLedger.CeilingReached.class);
        }
    }

    @Test
    void secondProcess_isRefused_andAFinishedRehearsalBeginsAnew() throws Exception {
        try (SpendingLedger ledger = open()) {
            ledger.settle(ledger.reserve(usd("1")), usd("1"));
            assertThatThrownBy(this::open).hasMessageContaining("another process");
            ledger.finish();
        }
        try (SpendingLedger next = open()) {
            assertThat(next.spent()).isEqualTo(Usd.ZERO);
        }
    }

    @Test
    void file_isPrivate() throws Exception {
        try (SpendingLedger ledger = open()) {
            assertThat(ledger.spent()).isEqualTo(Usd.ZERO);
        }
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("new/ledger"))))
                .isEqualTo("rw-------");
    }
}
