package dev.waymark.codec;

/** The encryption keys cannot be used as they are configured. The message never contains a key. */
public final class KeyProblem extends IllegalArgumentException {
    public KeyProblem(String message) {
        super(message);
    }
}
