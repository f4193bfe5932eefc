package dev.waymark.client.trace;

import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A span that has ended. An end before the start is replaced by the start.
 *
 * @param attributes strings, longs, doubles, booleans and lists of strings, by name
 * @param problem why it failed; empty if it did not fail
 */
public record Span(
        String traceId,
        String spanId,
        Optional<String> parentId,
        String name,
        Kind kind,
        Instant start,
        Instant end,
        Map<String, Object> attributes,
        Optional<String> problem) {
    /** OpenTelemetry's span kinds that spans of threads have, with their numbers in OTLP. */
    public enum Kind {
        INTERNAL(1),
        CLIENT(3);

        private final int number;

        Kind(int number) {
            this.number = number;
        }

        /** The number of the kind in OTLP. */
        public int number() {
            return number;
        }
    }

    public Span {
        attributes = Collections.unmodifiableMap(new LinkedHashMap<>(attributes));
        end = end.isBefore(start) ? start : end;
    }
}
