package dev.waymark.tool;

/**
 * Thrown by a tool to ask a person. The thread waits for the answer without a time limit, and the answer becomes the
 * call's result; the tool is not run again. Unchecked, so that it can be thrown from any depth.
 *
 * <pre>{@code
 * throw new InterruptException("Your deadline?");
 * }</pre>
 */
public final class InterruptException extends RuntimeException {

    private final String question;

    public InterruptException(String question) {
        super(question);
        if (question.isBlank()) {
            throw new IllegalArgumentException("the question must not be empty");
        }
        this.question = question;
    }

    /** The question to ask a person. */
    public String question() {
        return question;
    }
}
