package dev.waymark.codec;

/** Payloads cannot be read or written with the configured encryption keys. The message never contains a key. */
public final class KeyProblem extends RuntimeException {

    public KeyProblem(String message) {
        super(message);
    }

    /** @param consequence what cannot be done without keys */
    public static KeyProblem withoutKeys(String consequence) {
        return new KeyProblem(consequence + ", and " + EncryptionKeys.VARIABLE + " is not set");
    }
}
