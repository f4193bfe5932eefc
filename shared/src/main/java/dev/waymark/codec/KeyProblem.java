package dev.waymark.codec;

/** Payloads cannot be read or written with the configured encryption keys. The message never contains a key. */
public final class KeyProblem extends RuntimeException {
    /** The failure type for programs. */
    public static final String TYPE = "KeyProblem";

    public KeyProblem(String message) {
        super(message);
    }
}
