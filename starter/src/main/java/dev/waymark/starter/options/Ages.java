package dev.waymark.starter.options;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads ages such as {@code 30d}, {@code 12h} or {@code 15m}. */
public final class Ages implements ITypeConverter<Duration> {
    private static final Pattern AGE = Pattern.compile("(\\d{1,6})([dhm])");

    @Override
    public Duration convert(String text) {
        Matcher parts = AGE.matcher(text);
        if (!parts.matches()) {
            throw new TypeConversionException("expected an age such as 30d, 12h or 15m, found " + text);
        }
        long amount = Long.parseLong(parts.group(1));
        return switch (parts.group(2)) {
            case "d" -> Duration.ofDays(amount);
            case "h" -> Duration.ofHours(amount);
            default -> Duration.ofMinutes(amount);
        };
    }
}
