package dev.waymark.worker.inbound;

import java.io.IOException;

/** The input is not too large, but the worker currently holds too much other input. */
public final class MemoryShortException extends IOException {
    MemoryShortException() {
        super("this worker has no memory left for input: too many large responses at the same time");
    }
}
