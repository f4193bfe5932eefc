package dev.waymark.client.schedule;

import dev.waymark.client.check.RequestLimits;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The times at which a schedule starts threads. */
public sealed interface Recurrence {
    /** The longest cron expression and the longest calendar, in characters. */
    int MAX_LENGTH = 150;

    /**
     * The times that match a cron expression of five fields (minute, hour, day of the month, month, day of the week), or
     * a name such as {@code @daily}. As in cron, a time matches if its day matches either of the two day fields when both
     * are restricted.
     */
    static Recurrence cron(String expression) {
        return new Cron(expression.strip());
    }

    /** The times that are a multiple of this interval after 1970-01-01T00:00:00Z. */
    static Recurrence every(Duration interval) {
        return new Every(interval);
    }

    /**
     * The times that match all of these fields: {@code second}, {@code minute}, {@code hour} (default 0), {@code
     * dayOfMonth}, {@code month}, {@code year}, {@code dayOfWeek} (default: any). A value is a list of numbers or names,
     * ranges and steps, as in cron: {@code "9-17/2"}, {@code "MON,FRI"}.
     */
    static Recurrence calendar(Map<String, String> fields) {
        return new Calendar(fields);
    }

    /**
     * The only one of these that is given.
     *
     * @throws dev.waymark.client.failure.WaymarkException if none or several are given
     */
    static Recurrence only(
            Optional<String> cron, Optional<Duration> every, Optional<Map<String, String>> calendarFields) {
        List<Recurrence> given = Stream.<Optional<Recurrence>>of(
                        cron.map(Recurrence::cron),
                        every.map(Recurrence::every),
                        calendarFields.map(Recurrence::calendar))
                .flatMap(Optional::stream)
                .toList();
        if (given.size() != 1) {
            throw RequestLimits.badInput(
                    (given.isEmpty() ? "no times are given" : "the times are given more than once")
                            + " for the schedule",
                    "Give one of cron, every and calendar");
        }
        return given.get(0);
    }

    /** Calls the method of the cases for this kind of recurrence. */
    <R> R match(Cases<R> cases);

    /** A method for each kind of recurrence. */
    interface Cases<R> {
        /** Called for {@link Recurrence#cron}. */
        R cron(Cron cron);

        /** Called for {@link Recurrence#every}. */
        R every(Every every);

        /** Called for {@link Recurrence#calendar}. */
        R calendar(Calendar calendar);
    }

    /** See {@link Recurrence#cron}. */
    record Cron(String expression) implements Recurrence {
        private static final int FIELDS = 5;
        private static final Map<String, String> NAMED = Map.of(
                "@hourly", "0 * * * *",
                "@daily", "0 0 * * *",
                "@midnight", "0 0 * * *",
                "@weekly", "0 0 * * 0",
                "@monthly", "0 0 1 * *",
                "@yearly", "0 0 1 1 *",
                "@annually", "0 0 1 1 *");

        public Cron {
            checkLength("cron expression", expression);
            if (expression.startsWith("TZ=") || expression.startsWith("CRON_TZ=")) {
                throw RequestLimits.badInput(
                        "the cron expression has a time zone: " + expression, "Set the time zone of the schedule");
            }
            if (expression.startsWith("@every")) {
                throw RequestLimits.badInput("not a cron expression: " + expression, "Set an interval instead");
            }
            int fields = split(expression).size();
            if (fields != FIELDS) {
                throw RequestLimits.badInput(
                        "a cron expression has five fields, not " + fields + ": " + expression,
                        "Fields are minute, hour, day of the month, month and day of the week: 0 9 * * MON-FRI."
                                + " For seconds and years, use a calendar");
            }
        }

        /** The five fields. */
        public List<String> fields() {
            return split(expression);
        }

        private static List<String> split(String expression) {
            return List.of(NAMED.getOrDefault(expression, expression).split("\\s+"));
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.cron(this);
        }

        @Override
        public String toString() {
            return expression;
        }
    }

    /** See {@link Recurrence#every}. */
    record Every(Duration interval) implements Recurrence {
        public Every {
            if (interval.compareTo(Duration.ofSeconds(1)) < 0 || interval.getNano() != 0) {
                throw RequestLimits.badInput(
                        "the interval must be one or more whole seconds: " + interval, "Example: 24h");
            }
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.every(this);
        }

        @Override
        public String toString() {
            return "every " + interval.toString().substring(2).toLowerCase(Locale.ROOT);
        }
    }

    /** See {@link Recurrence#calendar}. */
    record Calendar(Map<String, String> fields) implements Recurrence {
        private static final List<String> NAMES =
                List.of("second", "minute", "hour", "dayOfMonth", "month", "year", "dayOfWeek");

        public Calendar {
            fields = Collections.unmodifiableMap(new LinkedHashMap<>(fields));
            if (fields.isEmpty()) {
                throw RequestLimits.badInput("the calendar has no fields", "Fields are " + String.join(", ", NAMES));
            }
            fields.keySet().stream()
                    .filter(name -> !NAMES.contains(name))
                    .findFirst()
                    .ifPresent(name -> {
                        throw RequestLimits.badInput(
                                "the calendar has an unknown field: " + name, "Fields are " + String.join(", ", NAMES));
                    });
            checkLength("calendar", fields.toString());
        }

        @Override
        public <R> R match(Cases<R> cases) {
            return cases.calendar(this);
        }

        @Override
        public String toString() {
            return fields.toString();
        }
    }

    private static void checkLength(String what, String text) {
        if (text.isBlank() || text.length() > MAX_LENGTH) {
            throw RequestLimits.badInput(
                    "the " + what + " must have 1 to " + MAX_LENGTH + " characters, not " + text.length(), "");
        }
    }
}
