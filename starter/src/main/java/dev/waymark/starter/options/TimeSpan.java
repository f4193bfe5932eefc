package dev.waymark.starter.options;

import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The form of times on the command line: a number and a unit, such as {@code 30m}. */
final class TimeSpan {
    private final Pattern form;

    /**
     * @param digits the maximum number of digits
     * @param units some of {@code ms}, {@code s}, {@code m}, {@code h} and {@code d}
     */
    TimeSpan(int digits, String... units) {
        form = Pattern.compile("(\\d{1," + digits + "})(" + String.join("|", units) + ")");
    }

    /** Reads a text, if it has this form. */
    Optional<Duration> read(String text) {
        Matcher parts = form.matcher(text);
        if (!parts.matches()) {
            return Optional.empty();
        }
        long amount = Long.parseLong(parts.group(1));
        return Optional.of(
                switch (parts.group(2)) {
                    case "ms" -> Duration.ofMillis(amount);
                    case "s" -> Duration.ofSeconds(amount);
                    case "m" -> Duration.ofMinutes(amount);
                    case "h" -> Duration.ofHours(amount);
                    default -> Duration.ofDays(amount);
                });
    }
}
