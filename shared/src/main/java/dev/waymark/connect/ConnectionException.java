package dev.waymark.connect;

import java.util.Optional;

/** No Temporal server can be used at the configured address, or the settings for the connection are invalid. */
public final class ConnectionException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String advice;

    public ConnectionException(String message, Throwable cause) {
        this(message, "", cause);
    }

    ConnectionException(String message, String advice, Throwable cause) {
        super(message, cause);
        this.advice = advice;
    }

    /** What to do about it; empty if the server has to be started. */
    public Optional<String> advice() {
        return Optional.of(advice).filter(words -> !words.isEmpty());
    }
}
