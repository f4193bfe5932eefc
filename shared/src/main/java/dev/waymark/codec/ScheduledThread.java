package dev.waymark.codec;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A thread that a schedule has started. Temporal names it after the schedule and the time for which it was started, in
 * whole seconds: {@code nightly-2026-11-26T02:00:00Z}.
 */
public record ScheduledThread(String schedule, Instant time) {
    private static final Pattern NAME = Pattern.compile("(?s)(.+)-(\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ)");

    /** The length of the suffix that turns the name of a schedule into the name of its thread. */
    public static final int SUFFIX_LENGTH = "-2026-11-26T02:00:00Z".length();

    /** Reads the name of a thread. Empty if no schedule starts threads with such names. */
    public static Optional<ScheduledThread> of(String thread) {
        Matcher name = NAME.matcher(thread);
        if (!name.matches()) {
            return Optional.empty();
        }
        try {
            return Optional.of(new ScheduledThread(name.group(1), Instant.parse(name.group(2))));
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    /** The thread's id. */
    public String id() {
        return schedule + "-" + time;
    }
}
