package dev.waymark.checkpoint;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;

/** Times in the formats' notations. */
public final class Timestamps {
    private static final DateTimeFormatter MILLIS =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);
    private static final DateTimeFormatter SECONDS =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss'+00:00'").withZone(ZoneOffset.UTC);
    private static final DateTimeFormatter MICROS =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS'+00:00'").withZone(ZoneOffset.UTC);

    private Timestamps() {}

    /** In the notation of JavaScript's {@code toISOString}. */
    public static String millis(Instant at) {
        return MILLIS.format(at);
    }

    /** In the notation of Python's {@code isoformat}: without a fraction if it is zero. */
    public static String iso(Instant at) {
        return (at.getNano() == 0 ? SECONDS : MICROS).format(at);
    }

    /** Seconds since 1970, like Python's {@code time.time}. */
    public static double seconds(Instant at) {
        return at.toEpochMilli() / 1000.0;
    }

    public static Instant ofSeconds(double seconds) {
        return Instant.EPOCH.plus(Math.round(seconds * 1000.0), ChronoUnit.MILLIS);
    }
}
