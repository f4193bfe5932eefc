package dev.waymark.conversation.call;

/**
 * A server's task that a thread no longer waits for and must cancel.
 *
 * @param tool the tool whose server has the task
 */
public record AbandonedTask(String callId, String tool, String task) {}
