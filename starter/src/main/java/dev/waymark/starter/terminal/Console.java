package dev.waymark.starter.terminal;

/**
 * Input and output for a person. One thread reads; any thread may write at the same time. Escape codes are passed on,
 * so callers must remove them from foreign text.
 */
public interface Console extends AutoCloseable {
    /** Waits for input. If the line can be edited, {@code begun} is its initial text. */
    ConsoleInput read(String begun);

    /** Shows text of one or several lines. */
    void show(String text);

    /** Shows foreign text. At a terminal, each row is marked, so that it cannot be mistaken for a prompt. */
    void quote(String text);

    /** Shows a request for a decision. */
    void ask(String text);

    /** Shows something that is not a result. */
    void note(String text);

    /**
     * Shows temporary text, which the next output replaces; an empty text removes it. Shows nothing if output cannot be
     * replaced.
     */
    void passing(String text);

    /** Whether a person reads the output before typing the next line. */
    boolean isInteractive();

    @Override
    void close();
}
