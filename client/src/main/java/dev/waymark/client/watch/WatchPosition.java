package dev.waymark.client.watch;

import dev.waymark.history.Moment;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A position in the events of a watch, parsed from an event id: {@code RUN/e12} is the first watch event for history
 * event 12 of a run, {@code RUN/e12.1} the second one, and {@code RUN/e12~2.40} the end of the first 40 characters of
 * attempt 2 of the reply that follows this event. Ids depend on the history only, so a position is valid on every
 * server.
 */
public record WatchPosition(String event, Optional<LiveText.Heard> words) {
    private static final Pattern FORM =
            Pattern.compile("([^~]+/e\\d{1,18}(?:\\.\\d{1,6})?)(?:~(\\d{1,6})\\.(\\d{1,9}))?");

    public static Optional<WatchPosition> parse(String id) {
        Matcher matcher = FORM.matcher(id);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        Optional<LiveText.Heard> words = Optional.ofNullable(matcher.group(2))
                .map(attempt -> new LiveText.Heard(Integer.parseInt(attempt), Integer.parseInt(matcher.group(3))));
        return Optional.of(new WatchPosition(matcher.group(1), words));
    }

    /** Returns whether this is the position of an event for this moment. */
    public boolean isOf(Moment moment) {
        String first = moment.runId() + "/e" + moment.eventId();
        return event.equals(first) || event.startsWith(first + ".");
    }

    public static String of(String event, TextDelta words) {
        return event + "~" + words.attempt() + "." + words.until();
    }

    /** Assigns ids to the events of a watch. Must receive every event, in order. */
    public static final class Numbering {
        private String runId = "";
        private long eventId;
        private int number;

        public String next(Moment moment) {
            boolean same = moment.runId().equals(runId) && moment.eventId() == eventId;
            runId = moment.runId();
            eventId = moment.eventId();
            number = same ? number + 1 : 0;
            return runId + "/e" + eventId + (number == 0 ? "" : "." + number);
        }
    }
}
