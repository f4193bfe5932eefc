package dev.waymark.client.request;

import dev.waymark.conversation.value.Json;
import java.time.Instant;

/** A call that needs approval, as passed to the callback that may decide about it. */
public record ApprovalRequest(String thread, String callId, String tool, Json args, String argsDigest, Instant since) {}
