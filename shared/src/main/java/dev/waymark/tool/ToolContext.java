package dev.waymark.tool;

/**
 * Which call a tool carries out.
 *
 * @param thread the conversation
 * @param callId unique in the thread
 * @param tool the tool's name
 * @param idempotencyKey the same for every execution of the call, and for a lost call that is asked for again; hand it to
 *     the other side, if that can tell repeated requests by one
 */
public record ToolContext(String thread, String callId, String tool, String idempotencyKey) {}
