package dev.waymark.client;

import dev.waymark.conversation.value.Json;
import java.time.Instant;

/** A call that waits for approval, as it is shown to whoever decides. */
public record ApprovalRequest(String thread, String callId, String tool, Json args, String argsDigest, Instant since) {}
