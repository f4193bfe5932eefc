package dev.waymark.server.identity;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/** What somebody may do with the threads that they see. Every role may look. */
public enum CallerRole {
    /** Read. */
    LOOK("look"),
    /** Start threads, speak and answer in them, stop, close and cancel them. */
    TALK("talk"),
    /** Approve, deny, and settle unknown outcomes. */
    DECIDE("decide"),
    /** Raise limits, and see everybody's threads. */
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
