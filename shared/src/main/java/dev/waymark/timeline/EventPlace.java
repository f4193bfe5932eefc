package dev.waymark.timeline;

import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The place of a state in a run: the event, and the number of the fact among those that the event represents. Most
 * events represent one fact; a step whose calls ran with its model call represents several.
 *
 * <p>Written as {@code e42.0}, {@code e42.1} and so on, and as {@code e42} for the last fact of the event, so that an
 * event alone names the state after it.
 *
 * @param index the number of the fact, from 0; {@link #LAST} for the last one
 */
public record EventPlace(long event, int index) implements Comparable<EventPlace> {
    /** The index that stands for the last fact of an event. */
    public static final int LAST = Integer.MAX_VALUE;

    private static final Pattern FORM = Pattern.compile("e(\\d{1,18})(?:\\.(\\d{1,6}))?");
    private static final Comparator<EventPlace> ORDER =
            Comparator.comparingLong(EventPlace::event).thenComparingInt(EventPlace::index);

    /** The place after this event. */
    public static EventPlace after(long event) {
        return new EventPlace(event, LAST);
    }

    /** Parses {@code e42} or {@code e42.1}; empty if the text has another form. */
    public static Optional<EventPlace> parse(String text) {
        Matcher matcher = FORM.matcher(text);
        return matcher.matches()
                ? Optional.of(new EventPlace(
                        Long.parseLong(matcher.group(1)),
                        matcher.group(2) == null ? LAST : Integer.parseInt(matcher.group(2))))
                : Optional.empty();
    }

    /** Whether this is the state after the event, not one between two of its facts. */
    public boolean isLast() {
        return index == LAST;
    }

    @Override
    public int compareTo(EventPlace other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return "e" + event + (isLast() ? "" : "." + index);
    }
}
