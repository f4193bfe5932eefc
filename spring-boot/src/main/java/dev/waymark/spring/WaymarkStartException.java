package dev.waymark.spring;

/** Why the application cannot start with its Waymark settings, and what to do about it. */
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

    /** The action that solves the problem. */
    String action() {
        return action;
    }
}
