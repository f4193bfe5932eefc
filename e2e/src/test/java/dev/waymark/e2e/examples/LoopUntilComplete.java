package dev.waymark.e2e.examples;

import static dev.waymark.client.AgentResult.assertComplete;

import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import java.util.function.UnaryOperator;

/** Asks a person for as long as the agent has questions. */
final class LoopUntilComplete {
    private LoopUntilComplete() {}

    static String planMyProject(AgentClient client, UnaryOperator<String> readLine) {
        AgentResult result = client.prompt("assistant", "Plan my project.").await();

        while (result instanceof AgentResult.Interrupted interrupted) {
            String answer = readLine.apply(interrupted.question());
            result = client.answer(interrupted.thread(), answer).await();
        }

        return assertComplete(result).text();
    }
}
