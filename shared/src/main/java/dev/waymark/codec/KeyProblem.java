package dev.waymark.codec;

/**
 * Payloads cannot be read or written with the encryption keys as they are configured. The message never contains a key.
 */
public final class KeyProblem extends RuntimeException {
    /** The type by which programs know this problem. */
    public static final String TYPE = "KeyProblem";

    public KeyProblem(String message) {
        super(message);
    }
}
