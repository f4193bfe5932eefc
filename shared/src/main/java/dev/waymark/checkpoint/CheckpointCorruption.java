package dev.waymark.checkpoint;

import dev.waymark.conversation.value.ProblemType;

/** A document that is not a checkpoint, or that cannot be continued. The message says what is wrong, and where. */
public final class CheckpointCorruption extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The maximum length of a message, in characters. Messages quote the document, which may contain anything. */
    private static final int MOST_WORDS = 500;

    private final String type;

    private CheckpointCorruption(String type, String message) {
        super(message);
        this.type = type;
    }

    static CheckpointCorruption at(String place, String why) {
        String words = place.isEmpty() ? why : place + ": " + why;
        return new CheckpointCorruption(
                ProblemType.CORRUPTION, words.length() <= MOST_WORDS ? words : words.substring(0, MOST_WORDS) + "…");
    }

    static CheckpointCorruption tooLarge(long most) {
        return new CheckpointCorruption(ProblemType.TOO_LARGE, "more than " + most + " bytes");
    }

    /** {@code CheckpointCorruption} or {@code TooLarge}. */
    public String type() {
        return type;
    }
}
