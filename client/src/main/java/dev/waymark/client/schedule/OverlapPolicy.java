package dev.waymark.client.schedule;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What happens at a time of a schedule while the thread that it started before is still open. */
public enum OverlapPolicy {
    /** Nothing starts. */
    SKIP,
    /** One thread starts as soon as the other one has closed. Further times are skipped. */
    BUFFER,
    /** The other thread is cancelled, and the new one starts when it has closed. */
    CANCEL,
    /** The new thread starts at once. */
    ALLOW;

    /** The name in options, documents and settings. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The policy of this name. */
    public static Optional<OverlapPolicy> of(String wireName) {
        return Arrays.stream(values())
                .filter(policy -> policy.wireName().equals(wireName))
                .findFirst();
    }

    /** The names of all policies. */
    public static List<String> names() {
        return Arrays.stream(values()).map(OverlapPolicy::wireName).toList();
    }
}
