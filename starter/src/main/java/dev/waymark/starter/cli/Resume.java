package dev.waymark.starter.cli;

import dev.waymark.starter.client.AgentClient;
import dev.waymark.starter.client.ResumeOptions;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Goes on from where a conversation was left. */
@Command(name = "resume", description = "Goes on from where a closed thread ended, and waits for the outcome.")
final class Resume implements Callable<Integer> {
    @Mixin
    private Output output;

    @Mixin
    private Wait wait;

    @Parameters(index = "0", paramLabel = "THREAD", description = "A closed thread.")
    private String source;

    @Option(
            names = "--answer",
            paramLabel = "TEXT",
            description = "The answer to the open question; where none is open, a new message.")
    private String answer;

    @Option(names = "--agent", paramLabel = "A", description = "Who goes on. Default: the agent that is recorded.")
    private String agent;

    @Option(
            names = "--thread",
            paramLabel = "ID",
            description = "The new thread's id; it stays open. Default: made of what is resumed and the answer.")
    private String thread;

    @Option(names = "--max-iterations", paramLabel = "N", description = "How often a turn may call the model, at most.")
    private Integer maxIterations;

    @Option(names = "--volatile", description = "Let a thread live on a server that keeps everything in memory.")
    private boolean isVolatile;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        ResumeOptions how = how();
        try (AgentClient client = wait.client()) {
            return Outcomes.print(output, client.resume(source, how));
        }
    }

    private ResumeOptions how() {
        if (maxIterations != null && maxIterations < 1) {
            throw new ParameterException(spec.commandLine(), "--max-iterations must be at least 1: " + maxIterations);
        }
        ResumeOptions how = ResumeOptions.onward();
        how = answer == null ? how : how.withAnswer(answer);
        how = agent == null ? how : how.withAgent(agent);
        how = thread == null ? how : how.withThread(thread);
        how = maxIterations == null ? how : how.withMaxIterations(maxIterations);
        return isVolatile ? how.allowingVolatile() : how;
    }
}
