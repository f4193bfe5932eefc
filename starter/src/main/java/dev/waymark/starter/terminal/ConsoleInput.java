package dev.waymark.starter.terminal;

/** What somebody did at a console. */
public sealed interface ConsoleInput {
    /** Text, of several lines where these were typed or pasted as one. */
    record Text(String text) implements ConsoleInput {}

    /** Ctrl-C, with what had been typed by then. */
    record Interrupt(String begun) implements ConsoleInput {}

    /** Ctrl-D, or the end of a pipe. */
    record End() implements ConsoleInput {}
}
