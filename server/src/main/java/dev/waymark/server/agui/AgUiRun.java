package dev.waymark.server.agui;

/**
 * A run of the protocol over a thread.
 *
 * @param threadId what the front end calls the thread
 * @param runId what the front end calls the run
 * @param thread the thread's own id
 * @param from the fact with which the run begins
 * @param until the fact before which it does not end
 * @param showsAll whether the front end is told of the conversation so far
 */
record AgUiRun(String threadId, String runId, String thread, int from, int until, boolean showsAll) {}
