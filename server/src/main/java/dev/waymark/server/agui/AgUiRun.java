package dev.waymark.server.agui;

/**
 * An AG-UI run on a thread.
 *
 * @param threadId the id that the front end uses for the thread
 * @param runId the id that the front end uses for the run
 * @param thread the id of the thread on this server
 * @param from the number of the first fact of the run
 * @param until the number of the fact that the run must reach before it can end
 * @param showsAll whether the run starts with a snapshot of all messages
 */
record AgUiRun(String threadId, String runId, String thread, int from, int until, boolean showsAll) {}
