package dev.waymark.worker.rehearsal;

import java.util.Set;

/**
 * How a rehearsal asks.
 *
 * @param votes how often each candidate is asked at each decision
 * @param parallel the maximum number of requests at a time
 * @param decisions the maximum number of decisions of each thread
 * @param firstOfTurn whether only the first decision of each turn is rehearsed
 * @param allowedProviders the providers that may see a conversation although its thread did not use them
 * @param continued the maximum number of further decisions with which a decision that differs is continued in memory
 * @param decrypt whether the report may contain texts of encrypted threads
 */
public record RehearsalSettings(
        int votes,
        int parallel,
        int decisions,
        boolean firstOfTurn,
        Set<String> allowedProviders,
        int continued,
        boolean decrypt) {
    public RehearsalSettings {
        allowedProviders = Set.copyOf(allowedProviders);
    }
}
