package dev.waymark.e2e.examples;

import static dev.waymark.client.AgentResult.assertComplete;

import dev.waymark.client.AgentClient;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A server that has no Java thread to spare for each request that waits. */
final class WaitingWithoutBlocking {
    private WaitingWithoutBlocking() {}

    /** Answers a web request once the agent has replied, and gives up the wait, but not the turn, after a minute. */
    static CompletableFuture<String> reply(AgentClient client, String thread, String message) {
        return client.say(thread, message)
                .future()
                .orTimeout(1, TimeUnit.MINUTES)
                .thenApply(result -> assertComplete(result).text());
    }
}
