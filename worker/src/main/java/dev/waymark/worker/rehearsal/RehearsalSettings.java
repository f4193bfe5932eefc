package dev.waymark.worker.rehearsal;

import java.util.Optional;
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
 * @param dataset if the threads are those of a dataset: only their last decisions are rehearsed, and what is expected of
 *     them takes the place of the agents' checks
 * @param safeCalls how a continuation gets the results of calls that are safe to retry
 * @param scriptedResults results for calls that the thread did not record
 */
public record RehearsalSettings(
        int votes,
        int parallel,
        int decisions,
        boolean firstOfTurn,
        Set<String> allowedProviders,
        int continued,
        boolean decrypt,
        Optional<Dataset> dataset,
        SafeCalls safeCalls,
        ScriptedResults scriptedResults) {
    /** One vote, at every decision of each thread, four requests at a time. */
    public static final RehearsalSettings DEFAULT = new RehearsalSettings(
            1,
            4,
            Integer.MAX_VALUE,
            false,
            Set.of(),
            0,
            false,
            Optional.empty(),
            SafeCalls.RECORD,
            ScriptedResults.NONE);

    public RehearsalSettings {
        allowedProviders = Set.copyOf(allowedProviders);
    }

    public RehearsalSettings withVotes(int number) {
        return new RehearsalSettings(
                number,
                parallel,
                decisions,
                firstOfTurn,
                allowedProviders,
                continued,
                decrypt,
                dataset,
                safeCalls,
                scriptedResults);
    }

    public RehearsalSettings withParallel(int requests) {
        return new RehearsalSettings(
                votes,
                requests,
                decisions,
                firstOfTurn,
                allowedProviders,
                continued,
                decrypt,
                dataset,
                safeCalls,
                scriptedResults);
    }

    /**
     * @param most the maximum number of decisions of each thread
     * @param first whether only the first decision of each turn is rehearsed
     */
    public RehearsalSettings withDecisions(int most, boolean first) {
        return new RehearsalSettings(
                votes,
                parallel,
                most,
                first,
                allowedProviders,
                continued,
                decrypt,
                dataset,
                safeCalls,
                scriptedResults);
    }

    public RehearsalSettings withAllowedProviders(Set<String> names) {
        return new RehearsalSettings(
                votes,
                parallel,
                decisions,
                firstOfTurn,
                names,
                continued,
                decrypt,
                dataset,
                safeCalls,
                scriptedResults);
    }

    public RehearsalSettings withContinued(int most) {
        return new RehearsalSettings(
                votes,
                parallel,
                decisions,
                firstOfTurn,
                allowedProviders,
                most,
                decrypt,
                dataset,
                safeCalls,
                scriptedResults);
    }

    public RehearsalSettings withDecrypt(boolean shown) {
        return new RehearsalSettings(
                votes,
                parallel,
                decisions,
                firstOfTurn,
                allowedProviders,
                continued,
                shown,
                dataset,
                safeCalls,
                scriptedResults);
    }

    public RehearsalSettings withDataset(Optional<Dataset> chosen) {
        return new RehearsalSettings(
                votes,
                parallel,
                decisions,
                firstOfTurn,
                allowedProviders,
                continued,
                decrypt,
                chosen,
                safeCalls,
                scriptedResults);
    }

    /** How a continuation gets results that the thread did not record. */
    public RehearsalSettings withResults(SafeCalls safe, ScriptedResults scripted) {
        return new RehearsalSettings(
                votes, parallel, decisions, firstOfTurn, allowedProviders, continued, decrypt, dataset, safe, scripted);
    }
}
