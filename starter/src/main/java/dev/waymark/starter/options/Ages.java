package dev.waymark.starter.options;

import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads ages such as {@code 30d}, {@code 12h} or {@code 15m}. */
public final class Ages implements ITypeConverter<Duration> {
    private static final TimeSpan AGE = new TimeSpan(6, "d", "h", "m");

    @Override
    public Duration convert(String text) {
        return AGE.read(text)
                .orElseThrow(
                        () -> new TypeConversionException("expected an age such as 30d, 12h or 15m, found " + text));
    }
}
