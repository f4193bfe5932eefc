package dev.waymark.worker.inbound;

import java.io.IOException;

/** Thrown if input exceeds its limit. The message names the kind of input and the limit. */
public final class InputTooLargeException extends IOException {
    public InputTooLargeException(String message) {
        super(message);
    }
}
