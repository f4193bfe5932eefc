package dev.waymark.starter.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class DurationsTest {
    private final Durations durations = new Durations();

    @ParameterizedTest
    @CsvSource({"500ms,PT0.5S", "5s,PT5S", "2m,PT2M", "24h,PT24H", "0s,PT0S"})
    void convert_validDuration_isRead(String text, Duration expected) {
        assertThat(durations.convert(text)).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "5", "s", "-5s", "5 s", "1.5s", "5d", "99999999999999999999h"})
    void convert_anythingElse_isRefused(String text) {
        assertThatThrownBy(() -> durations.convert(text)).isInstanceOf(TypeConversionException.class);
    }

    @Test
    void convert_largestDuration_doesNotOverflow() {
        assertThat(durations.convert("999999999999h")).isPositive();
    }
}
