package dev.waymark.starter.terminal;

/** What somebody did at a console. */
public sealed interface Typed {
    /** Text, of several lines where these were typed or pasted as one. */
    record Text(String text) implements Typed {}

    /** Ctrl-C, with what had been typed by then. */
    record Interrupt(String begun) implements Typed {}

    /** Ctrl-D, or the end of a pipe. */
    record End() implements Typed {}
}
