package dev.waymark.bench.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LiveHeapTest {
    private static final Instant NOON = Instant.parse("2026-11-23T12:00:00Z");

    private static List<LiveHeap.Sample> samples(double... mebibytes) {
        return IntStream.range(0, mebibytes.length)
                .mapToObj(minute -> new LiveHeap.Sample(NOON.plusSeconds(60L * minute), mebibytes[minute]))
                .toList();
    }

    @Test
    void trend_ofALine_isItsSlope() {
        LiveHeap.Trend trend = LiveHeap.trend(samples(10, 11, 12, 13));

        assertThat(trend.mebibytesAnHour()).isCloseTo(60, within(1e-6));
        assertThat(trend.error()).isCloseTo(0, within(1e-6));
    }

    @Test
    void trend_ofNoiseAroundAConstant_isWithinItsError() {
        LiveHeap.Trend trend = LiveHeap.trend(samples(20, 22, 20, 22, 20, 22, 20, 22, 20, 22, 20, 22));

        assertThat(trend.upper()).isPositive();
        assertThat(trend.mebibytesAnHour() - 2 * trend.error()).isNegative();
    }
}
