package dev.waymark.tool;

/**
 * Thrown by a tool that does not know whether it took effect, such as one whose request was answered with a timeout. Of a
 * tool with side effects the call is unknown then: its {@code verify} is asked, or a person, or the model is told. Any
 * other exception is an error result. Unchecked, so that it can be thrown from any depth.
 *
 * <pre>{@code
 * throw new EffectUnknownException("the bank answered 504 Gateway Timeout");
 * }</pre>
 */
public final class EffectUnknownException extends RuntimeException {

    /** {@code seen} says in a few words, for people and the model, what was seen of the execution. */
    public EffectUnknownException(String seen) {
        super(seen);
        if (seen.isBlank()) {
            throw new IllegalArgumentException("an empty text");
        }
    }
}
