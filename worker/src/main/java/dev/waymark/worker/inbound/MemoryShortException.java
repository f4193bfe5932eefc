package dev.waymark.worker.inbound;

import java.io.IOException;

/** What comes in is not too large, but the worker holds too much else at the moment. */
public final class MemoryShortException extends IOException {
    MemoryShortException() {
        super("this worker has no memory left for what it receives: too many large answers at a time");
    }
}
