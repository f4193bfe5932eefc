package dev.waymark.starter.terminal;

/**
 * Somebody who types and reads. One thread reads; any thread may write, also meanwhile. Escape codes are passed on: keep
 * them out of what others said.
 */
public interface Console extends AutoCloseable {
    /** Waits until something was typed. {@code begun} stands on the line already, where a line can be edited. */
    ConsoleInput read(String begun);

    /** Something to read, of one or several lines. */
    void show(String text);

    /** Words of somebody else. At a terminal each row is marked, so that none of them passes for a prompt. */
    void quote(String text);

    /** Something that the person is to decide. */
    void ask(String text);

    /** Something to read that is not a result. */
    void note(String text);

    /**
     * Words that are not final: the next ones, or anything shown, take their place, and an empty text takes them away.
     * Where nothing can be taken back, they are not shown.
     */
    void passing(String text);

    /** Whether a person sits before it, who sees what is shown before typing on. */
    boolean isInteractive();

    @Override
    void close();
}
