package dev.waymark.server.identity;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/** What a caller may do with the threads that they can see. Every role includes {@link #LOOK}. */
public enum CallerRole {
    /** Read threads. */
    LOOK("look"),
    /** Start, fork, resume and import threads; send messages and answers; stop, close and cancel threads. */
    TALK("talk"),
    /** Approve and deny calls, and settle unknown outcomes. */
    DECIDE("decide"),
    /** Raise limits, set the context and limits of new threads, and see all threads. */
    OPERATE("operate");

    private final String wireName;

    CallerRole(String wireName) {
        this.wireName = wireName;
    }

    public String wireName() {
        return wireName;
    }

    public static Optional<CallerRole> of(String name) {
        return Arrays.stream(values())
                .filter(role -> role.wireName.equals(name))
                .findFirst();
    }

    public static String names() {
        return Arrays.stream(values()).map(CallerRole::wireName).collect(Collectors.joining(", "));
    }
}
