package dev.waymark.saver;

import dev.waymark.conversation.value.ProblemType;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Thrown if a saver fails. Says what is wrong with which storage or value, and what can be done about it. */
public final class SaverException extends RuntimeException {

    private static final int MOST_SHOWN = 300;

    private static final long serialVersionUID = 1L;

    private final String type;
    private final String remedy;

    private SaverException(String type, String message, String remedy, @Nullable Throwable cause) {
        super(message, cause);
        this.type = type;
        this.remedy = remedy;
    }

    /** A failure because the entry at this place is not a valid document of its thread. */
    public static SaverException corrupt(String place, String why) {
        return new SaverException(
                ProblemType.CORRUPTION,
                "the saved checkpoint can't be read: " + printable(place) + " (" + why + ")",
                "It is never overwritten. Repair it, or delete it to start over",
                null);
    }

    /** A failure of the storage at this place. */
    public static SaverException failed(String what, String place, Throwable cause) {
        return new SaverException(
                ProblemType.SAVER_FAILED,
                what + ": " + printable(place) + " (" + reason(cause) + ")",
                "The saved checkpoint is unchanged. Fix the storage, then save again",
                cause);
    }

    /** A failure because a checkpoint was not saved within this time. */
    public static SaverException late(String threadId, Duration waited) {
        return new SaverException(
                ProblemType.SAVER_FAILED,
                "the newest checkpoint was not saved within " + words(waited) + ": " + printable(threadId),
                "The thread continues. Save it later from its history: " + saveCommand(""),
                null);
    }

    /** A failure because the saver did not answer in time. The operation may still take effect. */
    public static SaverException timedOut(String what, Duration waited) {
        return new SaverException(
                ProblemType.SAVER_FAILED,
                "the saver did not answer within " + words(waited) + ": " + what,
                "Check the storage, then try again",
                null);
    }

    /** A failure because another thread has taken over the entry. */
    public static SaverException superseded(String threadId, int epoch) {
        return new SaverException(
                ProblemType.CHECKPOINT_SUPERSEDED,
                "the saved checkpoint belongs to another thread with this name, which took it over (epoch " + epoch
                        + "): " + printable(threadId),
                "Continue in that one. To replace its checkpoint with this thread's: " + saveCommand(" --replace"),
                null);
    }

    /** A failure because the saver has a newer or different checkpoint than the one to be saved. */
    public static SaverException poorer(String threadId, String why) {
        return new SaverException(
                ProblemType.CHECKPOINT_SUPERSEDED,
                "the saved checkpoint " + why + ": " + printable(threadId),
                "It was kept. To replace it anyway: " + saveCommand(" --replace"),
                null);
    }

    /** A failure because the request is invalid. */
    public static SaverException refused(String message, String remedy) {
        return new SaverException(ProblemType.BAD_INPUT, message, remedy, null);
    }

    /** Makes a place printable on one line, since it may include a thread id with any characters. */
    private static String printable(String place) {
        String line = place.replaceAll("\\p{Cntrl}", "?");
        return line.length() <= MOST_SHOWN ? line : line.substring(0, MOST_SHOWN) + "…";
    }

    private static String words(Duration time) {
        return time.toMillis() % 1_000 == 0 ? time.toSeconds() + " s" : time.toMillis() + " ms";
    }

    private static String saveCommand(String options) {
        return "waymark save THREAD --to TARGET" + options;
    }

    private static String reason(Throwable cause) {
        String message = cause.getMessage();
        String words = message == null ? "" : ": " + message.lines().findFirst().orElse("");
        return cause.getClass().getSimpleName() + words;
    }

    /** {@code CheckpointCorruption}, {@code CheckpointSuperseded}, {@code SaverFailed} or {@code BadInput}. */
    public String type() {
        return type;
    }

    /** What to do about the failure, in one or two sentences for people. */
    public String remedy() {
        return remedy;
    }
}
