package dev.waymark.starter.cli;

import dev.waymark.contract.Names;
import dev.waymark.starter.client.AgentClient;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Lets a call go ahead, and waits for the outcome. */
@Command(name = "approve", description = "Lets a call go ahead, and waits for the outcome.")
final class Approve implements Callable<Integer> {
    @Mixin
    private Output output;

    @Mixin
    private Wait wait;

    @Parameters(index = "0", paramLabel = "THREAD", description = "The thread.")
    private String thread;

    @Mixin
    private Decision decision;

    @Override
    public Integer call() {
        Map<String, Object> payload = decision.payload();
        try (AgentClient client = wait.client()) {
            return Outcomes.print(output, client.decide(thread, Names.APPROVE, payload));
        }
    }
}
