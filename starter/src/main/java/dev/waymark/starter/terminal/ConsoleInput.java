package dev.waymark.starter.terminal;

/** What one read from a console can return. */
public sealed interface ConsoleInput {
    /** Text; several lines if they were typed or pasted as one. */
    record Text(String text) implements ConsoleInput {}

    /** Ctrl-C, with the text of the unfinished line. */
    record Interrupt(String begun) implements ConsoleInput {}

    /** Ctrl-D, or the end of a pipe. */
    record End() implements ConsoleInput {}
}
