package dev.waymark.e2e.examples;

import static dev.waymark.client.AgentResult.assertComplete;

import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;

/** A caller that may die at any time, and whose successor gets the outcome without anything being done twice. */
final class RecoveryAfterFailure {
    private RecoveryAfterFailure() {}

    /** Returns the thread's id, which is all that has to be saved. The work no longer needs this process. */
    static String begin(AgentClient client) {
        return client.prompt("assistant", "Analyse the codebase.").thread();
    }

    /** Works in any process, any number of times: waits while the turn runs, and never runs it again. */
    static AgentResult.Complete finish(AgentClient client, String thread) {
        return assertComplete(client.turn(thread).await());
    }
}
