package dev.waymark.tool;

/**
 * Thrown by a tool that does not know whether it took effect, for example because its request timed out. If the tool
 * has side effects, the call's outcome is unknown: the tool's {@code verify} checks it, a person settles it, or the
 * model is told that it is unknown. Unchecked, so that it can be thrown from any depth.
 *
 * <pre>{@code
 * throw new EffectUnknownException("the bank answered 504 Gateway Timeout");
 * }</pre>
 */
public final class EffectUnknownException extends RuntimeException {

    /** @param seen what was observed of the execution, briefly, for people and the model */
    public EffectUnknownException(String seen) {
        super(seen);
        if (seen.isBlank()) {
            throw new IllegalArgumentException("the text must not be empty");
        }
    }
}
