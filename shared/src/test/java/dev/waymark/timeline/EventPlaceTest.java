package dev.waymark.timeline;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventPlaceTest {
    @ParameterizedTest
    @ValueSource(strings = {"e1", "e42", "e42.0", "e42.1", "e999999999999999999"})
    void place_writtenAndRead_isUnchanged(String place) {
        assertThat(EventPlace.parse(place)).map(EventPlace::toString).contains(place);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "42", "e", "e-1", "e1.", "e.1", "e1.1.1", "e1234567890123456789", "e1:1", "E1", "e1 "})
    void otherText_isNotAPlace(String text) {
        assertThat(EventPlace.parse(text)).isEmpty();
    }

    /** An event without an index comes after all of its facts. */
    @Test
    void places_areOrderedByTime() {
        assertThat(Stream.of("e42", "e9", "e42.10", "e42.2", "e43.0")
                        .map(place -> EventPlace.parse(place).orElseThrow()))
                .satisfies(places -> assertThat(places.stream().sorted().map(EventPlace::toString))
                        .containsExactly("e9", "e42.2", "e42.10", "e42", "e43.0"));
    }
}
