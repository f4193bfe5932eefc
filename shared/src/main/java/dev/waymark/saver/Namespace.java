package dev.waymark.saver;

import java.util.regex.Pattern;

/**
 * Separates the checkpoints of applications that share a store.
 *
 * <p>The name cannot contain a slash. Otherwise entries of two namespaces could have the same key, since a thread id
 * may contain {@code /checkpoints/}.
 */
public record Namespace(String name) {
    private static final Pattern ALLOWED = Pattern.compile("[A-Za-z0-9._-]{1,100}");

    /** The namespace that is used if none is named. */
    public static final Namespace DEFAULT = new Namespace("default");

    public Namespace {
        if (!ALLOWED.matcher(name).matches()) {
            throw SaverException.refused(
                    "invalid namespace: '" + name + "'",
                    "Use 1 to 100 characters A-Z, a-z, 0-9, dot, hyphen and underscore");
        }
    }
}
