package dev.waymark.codec;

/**
 * Thrown if the keys of threads cannot be read or written now. Nothing was encrypted with another key instead, and the
 * operation can be repeated when the storage answers again.
 */
public final class KeyStoreException extends RuntimeException {

    /** What to tell people whose command failed. */
    public static final String ADVICE = "Nothing is lost: threads continue when WAYMARK_THREAD_KEYS can be read again";

    private static final long serialVersionUID = 1L;

    private static final int MOST_SHOWN = 300;

    KeyStoreException(String message) {
        super(message);
    }

    private KeyStoreException(String message, Throwable cause) {
        super(message, cause);
    }

    /** A failure of the storage at this place. */
    static KeyStoreException of(String what, String place, Throwable cause) {
        String reason = cause.getMessage();
        String words = reason == null ? "" : ": " + reason.lines().findFirst().orElse("");
        return new KeyStoreException(message(what, place, cause.getClass().getSimpleName() + words), cause);
    }

    /** An entry that was damaged or written by a newer version. */
    static KeyStoreException invalid(String place, String reason) {
        return new KeyStoreException(message("a key of a thread can't be read", place, reason));
    }

    private static String message(String what, String place, String reason) {
        String line = place.replaceAll("\\p{Cntrl}", "?");
        return what + ": " + (line.length() <= MOST_SHOWN ? line : line.substring(0, MOST_SHOWN) + "…") + " (" + reason
                + ")";
    }
}
