package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.value.Sha256;

/**
 * The input of a workflow that records, on the server, in which thread a closed one goes on. Its workflow id is made of
 * what was continued, and a server takes an id once: so there is one continuation. No worker runs it. It is open until
 * the thread that it names has started, and terminated then.
 *
 * @param thread the thread that goes on
 * @param request the request that it was started for
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record ContinuationMarker(
        @JsonProperty("thread") String thread,
        @JsonProperty("request") String request) {
    @JsonCreator
    public ContinuationMarker {
        thread = thread == null ? "" : thread;
        request = request == null ? "" : request;
    }

    /** The workflow id of the marker of a thread of this server, by the thread's first run. */
    public static String idOfRun(String firstRunId) {
        return "waymark-continuation/" + firstRunId;
    }

    /**
     * The workflow id of the marker that counts once the thread named by this marker has closed without doing anything,
     * for want of an agent.
     */
    public static String idAfter(String marker, String idleRunId) {
        return marker + "/" + idleRunId;
    }

    /** The workflow id of the marker of a thread that this server does not know, by its id in a checkpoint. */
    public static String idOfFile(String thread) {
        return "waymark-continuation/file/" + Sha256.hex(thread);
    }
}
