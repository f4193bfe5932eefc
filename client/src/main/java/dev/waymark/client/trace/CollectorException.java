package dev.waymark.client.trace;

/**
 * A collector did not accept spans. The spans that it accepted earlier are stored; exporting again adds only the
 * missing ones.
 */
public final class CollectorException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    CollectorException(String message) {
        super(message);
    }
}
