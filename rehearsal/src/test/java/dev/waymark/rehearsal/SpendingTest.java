package dev.waymark.rehearsal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.conversation.value.Usd;
import java.math.BigDecimal;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class SpendingTest {
    private final Spending spending = new Spending(usd("1"));

    private static Usd usd(String dollars) {
        return Usd.of(new BigDecimal(dollars));
    }

    @Test
    void reservation_countsUntilTheCostIsKnown() throws Exception {
        spending.reserve(usd("0.7"));
        assertThat(spending.spent()).isEqualTo(usd("0.7"));

        spending.settle(usd("0.7"), usd("0.2"));
        assertThat(spending.spent()).isEqualTo(usd("0.2"));
    }

    @Test
    void request_thatCouldPassTheCeiling_isRefused() throws Exception {
        spending.count(usd("0.5"));

        assertThatThrownBy(() -> spending.reserve(usd("0.6")))
                .isInstanceOf(Spending.CeilingReached.class)
                .hasMessageContaining("0.5 of 1 USD are spent");
        spending.reserve(usd("0.5"));
    }

    @Test
    void request_thatFitsWithoutRunningOnes_waitsForThem() throws Exception {
        spending.reserve(usd("0.9"));
        CompletableFuture<Usd> next = CompletableFuture.supplyAsync(() -> {
            try {
                spending.reserve(usd("0.9"));
                return spending.spent();
            } catch (Spending.CeilingReached | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });

        spending.settle(usd("0.9"), usd("0.1"));

        assertThat(next.get(10, TimeUnit.SECONDS)).isEqualTo(usd("1"));
    }
}
