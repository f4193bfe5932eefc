package dev.waymark.simulation;

/** An invariant is violated. */
final class Violation extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Violation(String what) {
        super(what);
    }

    static void unless(boolean holds, String what) {
        if (!holds) {
            throw new Violation(what);
        }
    }
}
