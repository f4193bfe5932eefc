package dev.waymark.codec;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if the keys of threads cannot be read or written now. Nothing was encrypted with another key instead, and the
 * operation can be repeated when the storage answers again.
 */
public final class KeyStoreException extends RuntimeException {

    /** What to tell people whose command failed. */
    public static final String ADVICE = "Nothing is lost: threads continue when WAYMARK_THREAD_KEYS can be read again";

    private static final long serialVersionUID = 1L;

    private static final int MOST_SHOWN = 300;

    KeyStoreException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /** An entry that was damaged or written by a newer version. */
    static KeyStoreException invalid(String place) {
        String line = place.replaceAll("\\p{Cntrl}", "?");
        String shown = line.length() <= MOST_SHOWN ? line : line.substring(0, MOST_SHOWN) + "…";
        return new KeyStoreException("a key of a thread can't be read: " + shown + " (not a valid entry)", null);
    }
}
