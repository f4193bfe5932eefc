package dev.waymark.history;

/** Thrown for a workflow of Waymark's type that was started with an input that Waymark cannot have written. */
public final class ForeignThreadException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    ForeignThreadException(Throwable cause) {
        super("the start input is not one that Waymark writes, so another program started this workflow", cause);
    }
}
