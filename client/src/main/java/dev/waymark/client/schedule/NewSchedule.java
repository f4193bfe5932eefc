package dev.waymark.client.schedule;

import dev.waymark.client.check.RequestLimits;
import dev.waymark.client.request.Prompt;
import dev.waymark.thread.ThreadOwner;
import java.time.Duration;
import java.time.ZoneId;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * A schedule to create.
 *
 * <pre>{@code
 * client.schedules().create(NewSchedule.of(
 *                 "nightly", Prompt.of("billing", "Check the open invoices"), Recurrence.cron("0 2 * * *"))
 *         .withTimezone("Europe/Berlin"));
 * }</pre>
 *
 * @param name the name of the schedule, with which the names of its threads begin
 * @param prompt what each thread starts with. Names no thread: every time starts a thread of its own, which closes when
 *     its turn ends.
 * @param timezone an IANA time zone, for cron expressions and calendars
 * @param jitter each start is delayed by up to this time, to spread the starts of schedules with equal times
 * @param owner the owner of the threads
 * @param replacing whether an existing schedule of this name is replaced
 */
public record NewSchedule(
        String name,
        Prompt prompt,
        Recurrence recurrence,
        String timezone,
        OverlapPolicy overlap,
        Duration jitter,
        Optional<ThreadOwner> owner,
        boolean replacing) {
    /** The default time zone. */
    public static final String UTC = "UTC";

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,199}");

    public NewSchedule {
        checkName(name);
        if (prompt.thread().isPresent()) {
            throw RequestLimits.badInput(
                    "a schedule can't send messages into one thread: "
                            + prompt.thread().get(),
                    "Leave the thread out: each time starts a thread of its own. To continue one conversation, send it"
                            + " a message from a timer of your own");
        }
        if (!timezone.equals(UTC) && !ZoneId.getAvailableZoneIds().contains(timezone)) {
            throw RequestLimits.badInput("no such time zone: " + timezone, "Example: Europe/Berlin");
        }
        if (!timezone.equals(UTC) && recurrence instanceof Recurrence.Every) {
            throw RequestLimits.badInput(
                    "an interval has no time zone: " + timezone, "Leave the time zone out, or use a cron expression");
        }
        if (jitter.isNegative()) {
            throw RequestLimits.badInput("the jitter is negative: " + jitter, "Example: 30s");
        }
    }

    /** A schedule in UTC that skips a time while the previous thread is open. */
    public static NewSchedule of(String name, Prompt prompt, Recurrence recurrence) {
        return new NewSchedule(
                name, prompt, recurrence, UTC, OverlapPolicy.SKIP, Duration.ZERO, Optional.empty(), false);
    }

    /** Checks the name of a schedule, and returns it. */
    public static String checkName(String name) {
        if (!NAME.matcher(name).matches()) {
            throw RequestLimits.badInput(
                    "not a name for a schedule: " + name,
                    "Use up to 200 letters, digits, dots, hyphens and underscores. Example: nightly");
        }
        return name;
    }

    /** Sets the time zone of a cron expression or a calendar. */
    public NewSchedule withTimezone(String zone) {
        return with(edit -> edit.timezone = zone);
    }

    /** Sets what happens while the previous thread is open. */
    public NewSchedule withOverlap(OverlapPolicy policy) {
        return with(edit -> edit.overlap = policy);
    }

    /** Delays each start by a time between zero and this. */
    public NewSchedule withJitter(Duration most) {
        return with(edit -> edit.jitter = most);
    }

    /** Sets the owner of the threads. */
    public NewSchedule ownedBy(Optional<ThreadOwner> whose) {
        return with(edit -> edit.owner = whose);
    }

    /** Replaces an existing schedule of this name. A paused one stays paused. */
    public NewSchedule replacingExisting() {
        return with(edit -> edit.replacing = true);
    }

    private NewSchedule with(Consumer<Edit> change) {
        Edit edit = new Edit();
        change.accept(edit);
        return edit.done();
    }

    private final class Edit {
        private String timezone = NewSchedule.this.timezone;
        private OverlapPolicy overlap = NewSchedule.this.overlap;
        private Duration jitter = NewSchedule.this.jitter;
        private Optional<ThreadOwner> owner = NewSchedule.this.owner;
        private boolean replacing = NewSchedule.this.replacing;

        private NewSchedule done() {
            return new NewSchedule(name, prompt, recurrence, timezone, overlap, jitter, owner, replacing);
        }
    }
}
