package dev.waymark.server.front;

/**
 * A part of a thread that is streamed to a front end.
 *
 * @param thread the id of the thread on this server
 * @param from the number of the first fact of the run
 * @param until the number of the fact that the run must reach before it can end
 * @param showsAll whether the run begins by showing everything that happened before
 */
public record FrontEndRun(String thread, int from, int until, boolean showsAll) {
    /** The run that begins with its thread. The results that a fork starts with belong to earlier runs. */
    static FrontEndRun fromTheStart(String thread) {
        return new FrontEndRun(thread, 0, 0, false);
    }

    boolean isFromTheStart() {
        return from == 0;
    }
}
