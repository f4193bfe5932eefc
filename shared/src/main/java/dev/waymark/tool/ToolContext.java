package dev.waymark.tool;

import dev.waymark.conversation.value.Json;
import java.util.OptionalLong;

/**
 * Which call a tool carries out.
 *
 * @param thread the conversation
 * @param callId unique in the thread
 * @param tool the tool's name
 * @param idempotencyKey the same for every execution of the call, and for a lost call that is asked for again; hand it to
 *     the other side, if that can tell repeated requests by one
 * @param fencingToken of a tool with side effects, a number that grows with every execution under the same key. A target
 *     that refuses smaller numbers than the largest it has seen is safe from an execution that was frozen and goes on
 *     when another one has taken its place. {@code verify} gets the number of the lost execution.
 * @param context what the agent's file, or whoever started the thread, has given it to carry; an object
 */
public record ToolContext(
        String thread, String callId, String tool, String idempotencyKey, OptionalLong fencingToken, Json context) {
    public ToolContext(String thread, String callId, String tool, String idempotencyKey) {
        this(thread, callId, tool, idempotencyKey, OptionalLong.empty(), Json.EMPTY_OBJECT);
    }

    public ToolContext withFencingToken(OptionalLong token) {
        return new ToolContext(thread, callId, tool, idempotencyKey, token, context);
    }
}
