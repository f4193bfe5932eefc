package dev.waymark.starter.cli;

import dev.waymark.contract.Names;
import dev.waymark.starter.client.AgentClient;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Says how a call with an unknown outcome ended. */
@Command(name = "settle", description = "Says how a call with an unknown outcome ended.")
final class Settle implements Callable<Integer> {
    private static final List<String> OUTCOMES = List.of("done", "rerun", "give-up");

    @Mixin
    private Output output;

    @Mixin
    private Wait wait;

    @Parameters(index = "0", paramLabel = "THREAD", description = "The thread.")
    private String thread;

    @Option(names = "--call", paramLabel = "ID", required = true, description = "Which call.")
    private String call;

    @Option(names = "--outcome", paramLabel = "done|rerun|give-up", required = true, description = "How it ended.")
    private String outcome;

    @Option(names = "--result", paramLabel = "TEXT", description = "What it returned.")
    private String result;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        if (!OUTCOMES.contains(outcome)) {
            throw new ParameterException(
                    spec.commandLine(), "no such outcome: " + outcome + ". There are " + String.join(", ", OUTCOMES));
        }
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("callId", call);
        payload.put("outcome", outcome);
        Optional.ofNullable(result).ifPresent(text -> payload.put("result", text));
        try (AgentClient client = wait.client()) {
            return Outcomes.print(output, client.decide(thread, Names.SETTLE, payload));
        }
    }
}
