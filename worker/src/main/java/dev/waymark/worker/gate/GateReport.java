package dev.waymark.worker.gate;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.history.HistoryFinding;
import java.util.List;
import java.util.Optional;

/**
 * What a gate has checked and found.
 *
 * @param build the version of the build that was tried
 * @param threads the number of threads, including those that were not checked
 * @param events how many events were replayed
 * @param live whether the projection of at least one thread was also compared with its running workflow
 * @param agentProblems why a worker would not start with the directory of agents
 */
public record GateReport(
        @JsonProperty("passed") boolean passed,
        @JsonProperty("build") String build,
        @JsonProperty("threads") int threads,
        @JsonProperty("checked") int checked,
        @JsonProperty("events") long events,
        @JsonProperty("live") boolean live,
        @JsonProperty("findings") List<Finding> findings,
        @JsonProperty("agentProblems") List<String> agentProblems) {
    public GateReport {
        findings = List.copyOf(findings);
        agentProblems = List.copyOf(agentProblems);
    }

    /**
     * A reason why a thread cannot be continued by this build or with these agents.
     *
     * @param kind {@code nondeterminism}, {@code projection}, {@code rules}, {@code agent-missing} or {@code
     *     agent-invalid}
     */
    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    public record Finding(
            @JsonProperty("thread") String thread,
            @JsonProperty("kind") String kind,
            @JsonProperty("runId") Optional<String> runId,
            @JsonProperty("event") Optional<Long> event,
            @JsonProperty("message") String message) {
        static Finding of(String thread, HistoryFinding finding) {
            return new Finding(
                    thread,
                    finding.kind().wireName(),
                    Optional.of(finding.runId()),
                    finding.eventId(),
                    finding.message());
        }

        static Finding ofAgent(String thread, String kind, String message) {
            return new Finding(thread, kind, Optional.empty(), Optional.empty(), message);
        }

        /** Returns the finding as one line of text. The event is written as other commands accept it. */
        public String line() {
            String place = runId.map(
                            run -> " at " + event.map(id -> run + "/e" + id).orElse(run))
                    .orElse("");
            return thread + ": " + kind + place + ": " + message;
        }
    }
}
