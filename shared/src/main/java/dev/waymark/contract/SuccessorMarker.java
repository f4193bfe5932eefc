package dev.waymark.contract;

import dev.waymark.conversation.value.Sha256;

/**
 * The input of a workflow that records on the server which thread continues a closed one. The workflow's id is derived
 * from the closed thread, and a server accepts an id only once, so there is only one continuation. No worker runs the
 * workflow. It is open until the thread that it names has started, and is then terminated.
 *
 * @param thread the thread that continues the closed one
 * @param request the request that started that thread
 */
public record SuccessorMarker(String thread, String request) {
    public SuccessorMarker {
        thread = thread == null ? "" : thread;
        request = request == null ? "" : request;
    }

    /** The workflow id of the marker for a thread of this server, by the thread's first run. */
    public static String idOfRun(String firstRunId) {
        return "waymark-continuation/" + firstRunId;
    }

    /**
     * The workflow id of the next marker, used once the thread named by this one has closed without doing anything
     * because its agent was not found.
     */
    public static String idAfter(String marker, String idleRunId) {
        return marker + "/" + idleRunId;
    }

    /** The workflow id of the marker for a thread that this server does not know, by its id in a checkpoint. */
    public static String idOfFile(String thread) {
        return "waymark-continuation/file/" + Sha256.hex(thread);
    }
}
