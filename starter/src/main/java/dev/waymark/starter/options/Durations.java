package dev.waymark.starter.options;

import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads {@code 500ms}, {@code 5s}, {@code 2m}, {@code 24h}. */
public final class Durations implements ITypeConverter<Duration> {
    private static final TimeSpan DURATION = new TimeSpan(12, "ms", "s", "m", "h");

    @Override
    public Duration convert(String text) {
        return DURATION.read(text)
                .orElseThrow(() ->
                        new TypeConversionException("'" + text + "' is not a duration: write 500ms, 5s, 2m or 24h"));
    }
}
