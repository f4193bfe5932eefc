package dev.waymark.worker.model.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import okhttp3.Headers;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RetryAfterTest {
    private static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");

    @ParameterizedTest
    @CsvSource({
        "'Sat, 21 Nov 2026 10:00:07 GMT', , 7",
        "'Sat, 21 Nov 2026 10:30:07 GMT', 'Sat, 21 Nov 2026 10:30:00 GMT', 7",
        "'Sat, 21 Nov 2026 09:59:59 GMT', , ",
        "'Fri, 21 Nov 2036 10:00:00 GMT', , 86400",
        "'someday', , ",
    })
    void of_date_countsFromTheProvidersClock(String date, String theirs, Long seconds) {
        Headers.Builder headers = new Headers.Builder().add("Retry-After", date);
        if (theirs != null) {
            headers.add("Date", theirs);
        }

        assertThat(RetryAfter.of(headers.build(), NOW))
                .isEqualTo(Optional.ofNullable(seconds).map(Duration::ofSeconds));
    }
}
