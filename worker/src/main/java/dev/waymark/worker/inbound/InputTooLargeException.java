package dev.waymark.worker.inbound;

import java.io.IOException;

/** The input exceeds its limit. The message contains the input and the limit. */
public final class InputTooLargeException extends IOException {
    public InputTooLargeException(String message) {
        super(message);
    }
}
