package dev.waymark.saver;

import dev.waymark.conversation.value.Problem;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What a saver could not do: what is wrong with which place or value, and what can be done about it. */
public final class SaverException extends RuntimeException {
    /** The storage does not do its part: it is full, read-only, away. */
    public static final String FAILED = "SaverFailed";

    private static final int MOST_SHOWN = 300;

    private static final long serialVersionUID = 1L;

    private final String type;
    private final String remedy;

    private SaverException(String type, String message, String remedy, @Nullable Throwable cause) {
        super(message, cause);
        this.type = type;
        this.remedy = remedy;
    }

    /** There is an entry at this place, and it is no document of its thread. */
    public static SaverException corrupt(String place, String why) {
        return new SaverException(
                Problem.CORRUPTION,
                "the saved checkpoint can't be read: " + printable(place) + " (" + why + ")",
                "It is never overwritten. Repair it, or delete it to begin anew",
                null);
    }

    /** The storage at this place failed. */
    public static SaverException failed(String what, String place, Throwable cause) {
        return new SaverException(
                FAILED,
                what + ": " + printable(place) + " (" + reason(cause) + ")",
                "What was saved before is as it was. Mend the storage, then save again",
                cause);
    }

    /** The storage takes longer than anybody waits for it. */
    public static SaverException late(String threadId, Duration waited) {
        return new SaverException(
                FAILED,
                "the newest checkpoint is not saved after " + waited.toMillis() + " ms: " + printable(threadId),
                "It can be saved from the thread's history as long as the server has that",
                null);
    }

    /** The caller asked for what makes no sense. */
    public static SaverException refused(String message, String remedy) {
        return new SaverException(Problem.BAD_INPUT, message, remedy, null);
    }

    /** Thread ids are in it, which may hold anything. A message is one line. */
    private static String printable(String place) {
        String line = place.replaceAll("\\p{Cntrl}", "?");
        return line.length() <= MOST_SHOWN ? line : line.substring(0, MOST_SHOWN) + "…";
    }

    private static String reason(Throwable cause) {
        String message = cause.getMessage();
        String words = message == null ? "" : ": " + message.lines().findFirst().orElse("");
        return cause.getClass().getSimpleName() + words;
    }

    /** {@code CheckpointCorruption}, {@code SaverFailed} or {@code BadInput}. */
    public String type() {
        return type;
    }

    /** What to do about it, as a sentence. */
    public String remedy() {
        return remedy;
    }
}
