package dev.waymark.tool;

/**
 * Which call a tool carries out.
 *
 * @param thread the conversation
 * @param callId unique in the thread
 * @param tool the tool's name
 */
public record ToolContext(String thread, String callId, String tool) {}
