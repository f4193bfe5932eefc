package dev.waymark.codec;

import java.time.Instant;
import java.time.ZoneOffset;

/** The key of the thread was destroyed, so nobody can read the thread. */
public final class ThreadForgottenException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    ThreadForgottenException(String thread, Instant at) {
        super("thread " + thread + " was forgotten on "
                + at.atOffset(ZoneOffset.UTC).toLocalDate() + ": its key is destroyed");
    }
}
