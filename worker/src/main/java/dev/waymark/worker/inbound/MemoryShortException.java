package dev.waymark.worker.inbound;

import java.io.IOException;

/** Thrown if the worker has no memory for an input, usually because it holds too much other input. */
public final class MemoryShortException extends IOException {
    MemoryShortException() {
        super("this worker has no memory left for input: too many large responses at the same time");
    }
}
