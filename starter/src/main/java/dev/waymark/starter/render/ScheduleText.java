package dev.waymark.starter.render;

import dev.waymark.client.schedule.AgentSchedule;
import dev.waymark.client.schedule.NewSchedule;
import dev.waymark.client.schedule.OverlapPolicy;
import dev.waymark.display.SafeText;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Formats schedules as text for people. */
public final class ScheduleText {
    private static final String UNKNOWN = "?";

    private ScheduleText() {}

    /** The rows of a table, with a heading. */
    public static List<List<String>> rows(List<AgentSchedule> schedules) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("SCHEDULE", "AGENT", "TIMES", "NEXT", "STARTED"));
        for (AgentSchedule schedule : schedules) {
            rows.add(List.of(
                    schedule.name(),
                    SafeText.line(schedule.agent()),
                    times(schedule.timing()),
                    next(schedule),
                    String.valueOf(schedule.starts().started())));
        }
        return rows;
    }

    private static String next(AgentSchedule schedule) {
        return schedule.paused()
                ? "paused"
                : schedule.starts().next().stream()
                        .findFirst()
                        .map(Instant::toString)
                        .orElse("never");
    }

    private static String times(AgentSchedule.Timing timing) {
        String times = timing.recurrence().map(Object::toString).orElse(UNKNOWN);
        return SafeText.line(timing.timezone().equals(NewSchedule.UTC) ? times : times + ", " + timing.timezone());
    }

    /** Everything about one schedule. */
    public static List<String> lines(AgentSchedule schedule) {
        List<String> lines = new ArrayList<>();
        AgentSchedule.Timing timing = schedule.timing();
        lines.add(schedule.name() + ": agent " + SafeText.line(schedule.agent()) + ", " + times(timing));
        lines.add("while a thread is open: "
                + timing.overlap().map(OverlapPolicy::wireName).orElse(UNKNOWN)
                + (timing.jitter().isZero() ? "" : ", jitter " + timing.jitter()));
        schedule.message().ifPresent(text -> lines.add("message: " + OneLine.shortened(text)));
        if (schedule.paused()) {
            lines.add("paused"
                    + schedule.note().map(note -> ": " + SafeText.line(note)).orElse(""));
        }
        AgentSchedule.Starts starts = schedule.starts();
        lines.add("started " + OneLine.count((int) starts.started(), "thread") + ", skipped "
                + OneLine.count((int) starts.skipped(), "time"));
        if (!starts.next().isEmpty()) {
            lines.add("next:");
            starts.next().forEach(time -> lines.add("  " + time));
        }
        if (!starts.runs().isEmpty()) {
            lines.add("last:");
            starts.runs().forEach(run -> lines.add("  " + run.thread() + "  " + outcome(run.outcome())));
        }
        return lines;
    }

    private static String outcome(Optional<String> status) {
        return status.orElse("gone");
    }
}
