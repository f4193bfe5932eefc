package dev.waymark.connect;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The version of a Temporal server.
 *
 * @param text as the server reports it; empty for the in-memory server, which reports none
 */
public record ServerVersion(String text) {
    private static final Pattern FORM = Pattern.compile("(\\d{1,6})\\.(\\d{1,6})\\..*");

    /** The first version that tells a pinned workflow that it should move to another version. */
    private static final int PINNING = 31;

    /** Whether this is the in-memory server, which forgets everything when it stops. */
    public boolean isInMemory() {
        return text.isEmpty();
    }

    /** Whether this is version 1.{@code minor} or newer. Versions in another form are taken for newer ones. */
    boolean isAtLeast(int minor) {
        Matcher version = FORM.matcher(text);
        if (!version.matches()) {
            return !isInMemory();
        }
        int major = Integer.parseInt(version.group(1));
        return major > 1 || (major == 1 && Integer.parseInt(version.group(2)) >= minor);
    }

    /** Why threads cannot be pinned to builds on this server; empty if they can. */
    public Optional<String> pinningProblem() {
        return isAtLeast(PINNING)
                ? Optional.empty()
                : Optional.of(
                        "threads can be pinned to builds on Temporal servers from 1." + PINNING + " on; this one is "
                                + (isInMemory() ? "the in-memory server" : text)
                                + ", and would never move pinned threads to another build");
    }
}
