package dev.waymark.starter.options;

import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.request.DecisionKey;
import dev.waymark.conversation.fact.PersonFact.ApprovalDecided;
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
    public AgentResult send(AgentClient client, String thread, ApprovalDecided decision) {
        AgentClient signing = key == null ? client : client.signingWith(DecisionKey.read(key));
        return signing.decide(thread, decision).await();
    }

    /** Returns the decision with the values of {@code --call}, {@code --digest}, {@code --by} and {@code --reason}. */
    public ApprovalDecided on(ApprovalDecided approval) {
        ApprovalDecided full = with(approval, call, ApprovalDecided::withCall);
        full = with(full, digest, ApprovalDecided::withDigest);
        full = with(full, by, ApprovalDecided::withBy);
        return with(full, reason, ApprovalDecided::withReason);
    }

    private static ApprovalDecided with(
            ApprovalDecided approval, String option, BiFunction<ApprovalDecided, String, ApprovalDecided> change) {
        return Optional.ofNullable(option)
                .map(value -> change.apply(approval, value))
                .orElse(approval);
    }
}
