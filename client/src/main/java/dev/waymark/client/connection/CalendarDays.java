package dev.waymark.client.connection;

import io.temporal.api.schedule.v1.CalendarSpec;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.IntPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Checks whether a calendar has any day. Unreadable fields count as every day, since the server decides what is valid.
 */
final class CalendarDays {
    /** Within this many years, every date falls on every day of the week. */
    private static final int YEARS = 40;

    private static final Pattern PART = Pattern.compile("(?:\\*|(\\w+)(?:-(\\w+))?)(?:/([1-9]\\d{0,3}))?");
    private static final Pattern NUMBER = Pattern.compile("\\d{1,4}");
    private static final List<String> MONTHS =
            List.of("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec");
    private static final List<String> WEEKDAYS = List.of("sun", "mon", "tue", "wed", "thu", "fri", "sat");

    private CalendarDays() {}

    /** Whether the calendar has a day from this one on. */
    static boolean exist(CalendarSpec calendar, LocalDate today) {
        IntPredicate years = new Field(2_000, 2_100, List.of()).of(calendar.getYear());
        IntPredicate months = new Field(1, 12, MONTHS).of(calendar.getMonth());
        IntPredicate days = new Field(1, 31, List.of()).of(calendar.getDayOfMonth());
        IntPredicate weekdays = new Field(0, 7, WEEKDAYS).of(calendar.getDayOfWeek());
        return today.datesUntil(today.plusYears(YEARS))
                .anyMatch(day -> years.test(day.getYear())
                        && months.test(day.getMonthValue())
                        && days.test(day.getDayOfMonth())
                        && (weekdays.test(day.getDayOfWeek().getValue())
                                || weekdays.test(day.getDayOfWeek().getValue() % 7)));
    }

    /** @param names the names of the values, the first one of {@code least} */
    private record Field(int least, int most, List<String> names) {
        /** The values of a list of numbers or names, ranges and steps. */
        IntPredicate of(String list) {
            return Arrays.stream(list.split(","))
                    .map(this::part)
                    .reduce(IntPredicate::or)
                    .orElse(value -> true);
        }

        private IntPredicate part(String text) {
            Matcher parts = PART.matcher(text.strip());
            if (!parts.matches()) {
                return value -> true;
            }
            int step = parts.group(3) == null ? 1 : Integer.parseInt(parts.group(3));
            int first = parts.group(1) == null ? least : value(parts.group(1));
            boolean isOne = parts.group(1) != null && parts.group(3) == null;
            int last = parts.group(2) != null ? value(parts.group(2)) : isOne ? first : most;
            return value -> first < 0 || last < 0 || value >= first && value <= last && (value - first) % step == 0;
        }

        /** The number of a value; negative if it can't be read. */
        private int value(String text) {
            if (NUMBER.matcher(text).matches()) {
                return Integer.parseInt(text);
            }
            int name =
                    names.indexOf(text.substring(0, Math.min(3, text.length())).toLowerCase(Locale.ROOT));
            return name < 0 ? -1 : least + name;
        }
    }
}
