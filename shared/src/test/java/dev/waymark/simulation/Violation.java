package dev.waymark.simulation;

/** Thrown by a simulation when an invariant does not hold. */
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
