package dev.waymark.client;

/** The starting point of a wait for an outcome. */
sealed interface Awaited {
    /** The outcome is known. */
    record Known(AgentResult result) implements Awaited {}

    /** The outcome will appear in this run, or in a run that continues it. */
    record Coming(String runId, OutcomeDetector waiting) implements Awaited {}
}
