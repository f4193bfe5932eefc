package dev.waymark.client;

import dev.waymark.timeline.Moment;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A position in the events of a watch, parsed from an event id. {@code RUN/e12} is the moment at history event 12 of a
 * run, or the last one of several; the others are {@code RUN/e12.0}, {@code RUN/e12.1} and so on. {@code RUN/e12:1} is the
 * first watch event after that moment that the same history event causes, such as a saved checkpoint. {@code RUN/e12~2.40}
 * is the end of the first 40 characters of attempt 2 of the reply that follows, and {@code RUN/e12~2.40.7} that of the
 * first 7 characters of its reasoning, too. Ids depend on the history only, so a
 * position is valid on every server.
 */
record WatchPosition(String event, Optional<LiveText.Heard> words) {
    private static final Pattern FORM = Pattern.compile(
            "([^~]+/e\\d{1,18}(?:\\.\\d{1,6})?(?::\\d{1,6})?)(?:~(\\d{1,6})\\.(\\d{1,9})(?:\\.(\\d{1,9}))?)?");

    static Optional<WatchPosition> parse(String id) {
        Matcher matcher = FORM.matcher(id);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        Optional<LiveText.Heard> words = Optional.ofNullable(matcher.group(2))
                .map(attempt -> new LiveText.Heard(
                        Integer.parseInt(attempt),
                        Integer.parseInt(matcher.group(3)),
                        Optional.ofNullable(matcher.group(4))
                                .map(Integer::parseInt)
                                .orElse(0)));
        return Optional.of(new WatchPosition(matcher.group(1), words));
    }

    /** Returns whether this is the position of an event for this moment. */
    boolean isOf(Moment moment) {
        return event.equals(moment.address()) || event.startsWith(moment.address() + ":");
    }

    static String of(String event, LiveText.Heard heard) {
        String reasoning = heard.reasoning() == 0 ? "" : "." + heard.reasoning();
        return event + "~" + heard.attempt() + "." + heard.characters() + reasoning;
    }

    /** Returns the id of the event with this number among those that a moment causes. */
    static String of(Moment moment, int number) {
        return moment.address() + (number == 0 ? "" : ":" + number);
    }
}
