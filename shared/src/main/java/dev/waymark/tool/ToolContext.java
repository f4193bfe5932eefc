package dev.waymark.tool;

import dev.waymark.conversation.value.Json;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The call that a tool executes.
 *
 * @param thread the id of the thread
 * @param callId the id of the call, which is unique in the thread
 * @param tool the tool's name
 * @param idempotencyKey a value that is the same for every execution of the call, and for a repeated request of a lost
 *     call; pass it to the called system if that system deduplicates by a key
 * @param fencingToken for tools with side effects, a number that grows with every execution under the same key. A
 *     system that refuses smaller numbers than the largest it has seen is protected from an execution that was frozen
 *     and continues after another one has replaced it. {@code verify} gets the number of the lost execution.
 * @param context the context from the agent file or from the start of the thread; always an object
 * @param traceparent the span of the call, in the form of W3C Trace Context, for the systems that the tool calls
 */
public record ToolContext(
        String thread,
        String callId,
        String tool,
        String idempotencyKey,
        OptionalLong fencingToken,
        Json context,
        Optional<String> traceparent) {
    public ToolContext(String thread, String callId, String tool, String idempotencyKey) {
        this(thread, callId, tool, idempotencyKey, OptionalLong.empty(), Json.EMPTY_OBJECT, Optional.empty());
    }

    /** A copy of this context with another fencing token. */
    public ToolContext withFencingToken(OptionalLong token) {
        return new ToolContext(thread, callId, tool, idempotencyKey, token, context, traceparent);
    }
}
