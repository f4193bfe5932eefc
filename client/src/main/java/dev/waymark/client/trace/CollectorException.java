package dev.waymark.client.trace;

/** A collector did not take spans. What it took before is stored; exporting again adds only what is missing. */
public final class CollectorException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    CollectorException(String message) {
        super(message);
    }
}
