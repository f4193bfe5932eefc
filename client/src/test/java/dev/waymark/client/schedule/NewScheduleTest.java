package dev.waymark.client.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.waymark.client.connection.ScheduleSpecs;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.Prompt;
import io.temporal.api.schedule.v1.CalendarSpec;
import io.temporal.api.schedule.v1.ScheduleSpec;
import java.time.Duration;
import java.time.LocalDate;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NewScheduleTest {
    private static final Prompt PROMPT = Prompt.of("clerk", "Go");
    private static final Recurrence DAILY = Recurrence.cron("@daily");

    @Test
    void schedule_intoOneThread_isRefusedWithInstructions() {
        assertThatThrownBy(() -> NewSchedule.of("nightly", PROMPT.withThread("trip"), DAILY))
                .isInstanceOfSatisfying(WaymarkException.Refused.class, refused -> {
                    assertThat(refused).hasMessage("a schedule can't send messages into one thread: trip");
                    assertThat(refused.remedy().toString()).contains("each time starts a thread of its own");
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "a/b", "-a", ".a", "ä", "it's", "a\n"})
    void schedule_ofABadName_isRefused(String name) {
        assertThatThrownBy(() -> NewSchedule.of(name, PROMPT, DAILY)).hasMessageContaining("not a name for a schedule");
    }

    @Test
    void schedule_withUnusableTimes_isRefused() {
        NewSchedule daily = NewSchedule.of("nightly", PROMPT, DAILY);
        NewSchedule hourly = NewSchedule.of("hourly", PROMPT, Recurrence.every(Duration.ofHours(1)));

        assertThatThrownBy(() -> daily.withTimezone("Berlin")).hasMessage("no such time zone: Berlin");
        assertThatThrownBy(() -> hourly.withTimezone("Europe/Berlin"))
                .hasMessage("an interval has no time zone: Europe/Berlin");
        assertThatThrownBy(() -> daily.withJitter(Duration.ofSeconds(-1)))
                .hasMessageContaining("the jitter is negative");
        assertThatThrownBy(() -> Recurrence.every(Duration.ofMillis(1_500))).hasMessageContaining("whole seconds");
        assertThatThrownBy(() -> Recurrence.every(Duration.ZERO)).hasMessageContaining("whole seconds");
        assertThatThrownBy(() -> Recurrence.calendar(Map.of())).hasMessage("the calendar has no fields");
        assertThatThrownBy(() -> Recurrence.calendar(Map.of("day", "1")))
                .hasMessage("the calendar has an unknown field: day");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0 30 9 * * MON|not 6",
                "0 0 0 1 1 * 2027|not 7",
                "0 9 *|not 3",
                "@reboot|not 1",
                "@every 1h|not a cron expression",
                "TZ=Europe/Berlin 0 9 * * *|has a time zone",
                "CRON_TZ=Europe/Berlin 0 9 * * *|has a time zone"
            })
    void cron_thatOtherProgramsReadDifferently_isRefused(String expression, String reason) {
        assertThatThrownBy(() -> Recurrence.cron(expression)).hasMessageContaining(reason);
    }

    @Test
    void only_ofNoneOrSeveral_isRefused() {
        assertThatThrownBy(() -> Recurrence.only(Optional.empty(), Optional.empty(), Optional.empty()))
                .hasMessage("no times are given for the schedule");
        assertThatThrownBy(() ->
                        Recurrence.only(Optional.of("@daily"), Optional.of(Duration.ofHours(1)), Optional.empty()))
                .hasMessage("the times are given more than once for the schedule");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0 9 30 2 *|false",
                "0 9 30,31 FEB *|false",
                "0 9 31 4,jun,9/2 *|false",
                "0 9 29 2 *|true",
                "0 9 29 2 SUN|true",
                "0 9 30 2 MON|true",
                "0 9 */5 */12 *|true",
                "0 9 31 * 7|true",
                "0 9 nonsense 2 *|true",
                "@yearly|true"
            })
    void cron_hasTimes_ifOneOfItsDaysExists(String expression, boolean comes) {
        assertThat(everComes(Recurrence.cron(expression))).isEqualTo(comes);
    }

    @Test
    void calendar_hasTimes_ifItsDaysAreNotOver() {
        assertThat(everComes(Recurrence.calendar(Map.of("year", "2025")))).isFalse();
        assertThat(everComes(Recurrence.calendar(Map.of("year", "2026", "month", "1-10"))))
                .isFalse();
        assertThat(everComes(Recurrence.calendar(Map.of("year", "2027", "month", "2", "dayOfMonth", "29"))))
                .isFalse();
        assertThat(everComes(Recurrence.calendar(Map.of("year", "2026-2028/2", "dayOfMonth", "29", "month", "2"))))
                .isTrue();
        assertThat(everComes(Recurrence.calendar(Map.of("hour", "9", "dayOfWeek", "MON-FRI"))))
                .isTrue();
        assertThat(everComes(Recurrence.calendar(Map.of("dayOfMonth", "29", "month", "2", "dayOfWeek", "TUE"))))
                .isTrue();
        assertThat(everComes(Recurrence.every(Duration.ofHours(1)))).isTrue();
    }

    private static boolean everComes(Recurrence recurrence) {
        return ScheduleSpecs.everCome(ScheduleSpecs.spec(recurrence, "UTC", Duration.ZERO), LocalDate.of(2026, 11, 29));
    }

    /** Temporal wants a day to match both fields. */
    @Test
    void spec_ofCronWithTwoDayFields_matchesEither() {
        ScheduleSpec spec = ScheduleSpecs.spec(Recurrence.cron("0 12 13 * FRI"), "UTC", Duration.ZERO);

        assertThat(spec.getCalendarList())
                .extracting(CalendarSpec::getDayOfMonth, CalendarSpec::getDayOfWeek)
                .containsExactly(tuple("13", "*"), tuple("*", "FRI"));
        assertThat(ScheduleSpecs.spec(Recurrence.cron("0 12 */2 * FRI"), "UTC", Duration.ZERO)
                        .getCalendarCount())
                .isEqualTo(1);
    }
}
