package dev.waymark.bench;

import com.fasterxml.jackson.databind.JsonNode;

/** The approval of one call, as it is sent and as it appears in the thread's stream. */
record CallApproval(String thread, String callId, String argsDigest) {

    /** Reads a pending call of this thread, or an event of its stream. */
    static CallApproval of(String thread, JsonNode document) {
        return new CallApproval(
                thread,
                document.path("callId").asText(),
                document.path("argsDigest").asText());
    }
}
