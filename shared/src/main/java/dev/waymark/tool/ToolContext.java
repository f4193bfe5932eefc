package dev.waymark.tool;

import dev.waymark.conversation.value.Json;

/**
 * Which call a tool carries out.
 *
 * @param thread the conversation
 * @param callId unique in the thread
 * @param tool the tool's name
 * @param idempotencyKey the same for every execution of the call, and for a lost call that is asked for again; hand it to
 *     the other side, if that can tell repeated requests by one
 * @param context what the agent's file, or whoever started the thread, has given it to carry; an object
 */
public record ToolContext(String thread, String callId, String tool, String idempotencyKey, Json context) {
    public ToolContext(String thread, String callId, String tool, String idempotencyKey) {
        this(thread, callId, tool, idempotencyKey, Json.EMPTY_OBJECT);
    }
}
