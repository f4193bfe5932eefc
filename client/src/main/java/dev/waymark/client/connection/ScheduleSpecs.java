package dev.waymark.client.connection;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.google.protobuf.Duration;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.schedule.Recurrence;
import dev.waymark.contract.PayloadJson;
import io.temporal.api.schedule.v1.CalendarSpec;
import io.temporal.api.schedule.v1.IntervalSpec;
import io.temporal.api.schedule.v1.ScheduleSpec;
import io.temporal.api.schedule.v1.StructuredCalendarSpec;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Converts the times of schedules to Temporal's form and back.
 *
 * <p>Temporal stores numbers instead of the text that a person has written, so the text is kept in the comment of each
 * calendar. Temporal's own cron expressions are not used: they have more than five fields in another order than other
 * programs, and a day has to match both day fields.
 */
public final class ScheduleSpecs {
    private static final String CRON = "cron ";
    private static final String CALENDAR = "calendar ";
    private static final String ANY = "*";

    private ScheduleSpecs() {}

    /** Returns the times in Temporal's form. */
    public static ScheduleSpec spec(Recurrence recurrence, String timezone, java.time.Duration jitter) {
        return recurrence
                .match(new Writer())
                .setTimezoneName(timezone)
                .setJitter(duration(jitter))
                .build();
    }

    /** Whether the times include a day from this one on. February 30, for example, does not exist. */
    public static boolean everCome(ScheduleSpec spec, LocalDate today) {
        return spec.getCalendarCount() == 0
                || spec.getCalendarList().stream().anyMatch(calendar -> CalendarDays.exist(calendar, today));
    }

    private static final class Writer implements Recurrence.Cases<ScheduleSpec.Builder> {
        @Override
        public ScheduleSpec.Builder cron(Recurrence.Cron cron) {
            List<String> fields = cron.fields();
            CalendarSpec both = CalendarSpec.newBuilder()
                    .setMinute(fields.get(0))
                    .setHour(fields.get(1))
                    .setDayOfMonth(fields.get(2))
                    .setMonth(fields.get(3))
                    .setDayOfWeek(fields.get(4))
                    .setComment(CRON + cron.expression())
                    .build();
            if (isAny(both.getDayOfMonth()) || isAny(both.getDayOfWeek())) {
                return ScheduleSpec.newBuilder().addCalendar(both);
            }
            return ScheduleSpec.newBuilder()
                    .addCalendar(both.toBuilder().setDayOfWeek(ANY))
                    .addCalendar(both.toBuilder().setDayOfMonth(ANY));
        }

        /** Like cron, which looks at the first character only. */
        private static boolean isAny(String field) {
            return field.startsWith(ANY);
        }

        @Override
        public ScheduleSpec.Builder every(Recurrence.Every every) {
            return ScheduleSpec.newBuilder()
                    .addInterval(IntervalSpec.newBuilder().setInterval(duration(every.interval())));
        }

        @Override
        public ScheduleSpec.Builder calendar(Recurrence.Calendar calendar) {
            Map<String, String> fields = calendar.fields();
            return ScheduleSpec.newBuilder()
                    .addCalendar(CalendarSpec.newBuilder()
                            .setSecond(fields.getOrDefault("second", ""))
                            .setMinute(fields.getOrDefault("minute", ""))
                            .setHour(fields.getOrDefault("hour", ""))
                            .setDayOfMonth(fields.getOrDefault("dayOfMonth", ""))
                            .setMonth(fields.getOrDefault("month", ""))
                            .setYear(fields.getOrDefault("year", ""))
                            .setDayOfWeek(fields.getOrDefault("dayOfWeek", ""))
                            .setComment(CALENDAR + json(fields)));
        }
    }

    /** Returns the times of a spec. Empty if they were not written by this class. */
    public static Optional<Recurrence> recurrence(ScheduleSpec spec) {
        try {
            if (spec.getIntervalCount() == 1 && spec.getStructuredCalendarCount() == 0) {
                return Optional.of(Recurrence.every(duration(spec.getInterval(0).getInterval())));
            }
            List<String> texts = spec.getStructuredCalendarList().stream()
                    .map(StructuredCalendarSpec::getComment)
                    .distinct()
                    .toList();
            return texts.size() == 1 && spec.getIntervalCount() == 0 ? read(texts.get(0)) : Optional.empty();
        } catch (WaymarkException | JsonProcessingException e) {
            return Optional.empty();
        }
    }

    private static Optional<Recurrence> read(String comment) throws JsonProcessingException {
        if (comment.startsWith(CRON)) {
            return Optional.of(Recurrence.cron(comment.substring(CRON.length())));
        }
        if (comment.startsWith(CALENDAR)) {
            return Optional.of(Recurrence.calendar(PayloadJson.MAPPER.readValue(
                    comment.substring(CALENDAR.length()), new TypeReference<Map<String, String>>() {})));
        }
        return Optional.empty();
    }

    private static String json(Map<String, String> fields) {
        try {
            return PayloadJson.MAPPER.writeValueAsString(fields);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot write the map as JSON", e);
        }
    }

    private static Duration duration(java.time.Duration time) {
        return Duration.newBuilder()
                .setSeconds(time.getSeconds())
                .setNanos(time.getNano())
                .build();
    }

    /** Returns a duration of Temporal's form. */
    public static java.time.Duration duration(Duration time) {
        return java.time.Duration.ofSeconds(time.getSeconds(), time.getNanos());
    }
}
