package dev.waymark.client;

/** What the wait for an outcome begins with. */
sealed interface Awaited {
    /** The outcome is known. */
    record Known(AgentResult result) implements Awaited {}

    /** The outcome will be found among the moments of this run, or of those that continue it. */
    record Coming(String runId, OutcomeDetector waiting) implements Awaited {}
}
