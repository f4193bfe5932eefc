package dev.waymark.e2e.examples;

import static dev.waymark.client.AgentResult.assertComplete;

import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import java.util.Map;

/**
 * Two HTTP requests, perhaps to two processes with no memory in common. Only the thread's id is passed from one to the
 * other.
 */
final class StatelessRequests {
    private StatelessRequests() {}

    // Request 1
    static Map<String, String> handleStart(AgentClient client, String message) {
        return reply(client.prompt("assistant", message).await());
    }

    // Request 2: a new process
    static Map<String, String> handleReply(AgentClient client, String thread, String answer) {
        return reply(client.answer(thread, answer).await());
    }

    private static Map<String, String> reply(AgentResult result) {
        if (result instanceof AgentResult.Interrupted interrupted) {
            return Map.of("thread", interrupted.thread(), "question", interrupted.question());
        }
        return Map.of("answer", assertComplete(result).text());
    }
}
