package dev.waymark.client.request;

import dev.waymark.conversation.value.Json;
import java.time.Instant;

/**
 * A call that needs approval, as passed to the callback that may decide about it.
 *
 * @param fromFile whether only a file contains the call, so that no model chose it in this thread
 */
public record ApprovalRequest(
        String thread, String callId, String tool, Json args, String argsDigest, Instant since, boolean fromFile) {}
