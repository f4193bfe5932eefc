package dev.waymark.starter.options;

import dev.waymark.client.Approval;
import java.util.Optional;
import java.util.function.BiFunction;
import picocli.CommandLine.Option;

/** What a person says about a call that waits for approval, whatever the decision. */
public final class DecisionOptions {
    @Option(names = "--call", paramLabel = "ID", description = "Which call, when several wait.")
    private String call;

    @Option(
            names = "--digest",
            paramLabel = "D",
            description = "The digest of the arguments that were shown. With others, the decision is refused.")
    private String digest;

    @Option(names = "--by", paramLabel = "WHO", description = "Who decides.")
    private String by;

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why.")
    private String reason;

    /** The same decision with all that the options say. */
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
