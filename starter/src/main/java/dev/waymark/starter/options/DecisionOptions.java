package dev.waymark.starter.options;

import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.request.Approval;
import dev.waymark.client.request.DecisionKey;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.BiFunction;
import picocli.CommandLine.Option;

/** The options that {@code approve} and {@code deny} have in common. */
public final class DecisionOptions {
    @Option(names = "--call", paramLabel = "ID", description = "The call to decide on, if several are waiting.")
    private String call;

    @Option(
            names = "--digest",
            paramLabel = "D",
            description = "The digest of the arguments that were shown. If they have changed, the decision is refused.")
    private String digest;

    @Option(names = "--by", paramLabel = "WHO", description = "The name of the person who decides.")
    private String by;

    @Option(names = "--reason", paramLabel = "TEXT", description = "The reason for the decision. The model sees it.")
    private String reason;

    @Option(
            names = "--key",
            paramLabel = "FILE",
            description = "Your private key, if the agent accepts only signed decisions. See: waymark keygen --help.")
    private Path key;

    /** Sends the decision, signed if {@code --key} is given, and waits for the outcome. */
    public AgentResult send(AgentClient client, String thread, Approval decision) {
        AgentClient signing = key == null ? client : client.signingWith(DecisionKey.read(key));
        return signing.decide(thread, decision).await();
    }

    /** Returns the decision with the values of {@code --call}, {@code --digest}, {@code --by} and {@code --reason}. */
    public Approval on(Approval approval) {
        Approval full = with(approval, call, Approval::withCall);
        full = with(full, digest, Approval::withDigest);
        full = with(full, by, Approval::withBy);
        return with(full, reason, Approval::withReason);
    }

    private static Approval with(Approval approval, String option, BiFunction<Approval, String, Approval> change) {
        return Optional.ofNullable(option)
                .map(value -> change.apply(approval, value))
                .orElse(approval);
    }
}
