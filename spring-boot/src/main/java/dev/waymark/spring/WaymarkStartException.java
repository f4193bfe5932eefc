package dev.waymark.spring;

/** Thrown if a Waymark setting or bean keeps the application from starting. Says what to do about it. */
final class WaymarkStartException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String action;

    WaymarkStartException(String description, String action, Throwable cause) {
        super(description, cause);
        this.action = action;
    }

    WaymarkStartException(String description, String action) {
        super(description);
        this.action = action;
    }

    /** Returns what the user can do to solve the problem. */
    String action() {
        return action;
    }
}
