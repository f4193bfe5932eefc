package dev.waymark.worker.inbound;

import java.io.IOException;

/** What comes in is larger than anything that is taken. The message says what, and how large it may be. */
public final class InputTooLargeException extends IOException {
    public InputTooLargeException(String message) {
        super(message);
    }
}
