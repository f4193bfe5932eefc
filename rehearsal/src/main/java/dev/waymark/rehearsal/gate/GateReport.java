package dev.waymark.rehearsal.gate;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.history.HistoryFinding;
import io.temporal.api.deployment.v1.WorkerDeploymentVersion;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a gate has checked and found.
 *
 * @param threads the number of threads, including those that were not checked
 * @param events how many events were replayed
 * @param live whether the projection of at least one thread was also compared with its running workflow
 * @param accepted the accepted findings, which are not among {@code findings}
 * @param held the builds that are no longer current, but have threads that are pinned to them
 * @param agentProblems why a worker would not start with the directory of agents
 */
public record GateReport(
        boolean passed,
        int threads,
        int checked,
        long events,
        boolean live,
        List<Finding> findings,
        List<Finding> accepted,
        List<Held> held,
        List<String> agentProblems) {
    public GateReport {
        findings = List.copyOf(findings);
        accepted = List.copyOf(accepted);
        held = List.copyOf(held);
        agentProblems = List.copyOf(agentProblems);
    }

    /**
     * A reason why a thread cannot be continued by this build or with these agents.
     *
     * @param kind {@code nondeterminism}, {@code projection}, {@code rules}, {@code agent-missing}, {@code
     *     agent-invalid}, {@code tool-changed} or {@code call-misfit}
     */
    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    public record Finding(String thread, String kind, Optional<String> runId, Optional<Long> event, String message) {
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
            return subject() + place() + ": " + message.replaceAll("\\s*\\R\\s*", " ");
        }

        String subject() {
            return thread + ": " + kind;
        }

        String place() {
            return runId.map(run -> " at " + event.map(id -> run + "/e" + id).orElse(run))
                    .orElse("");
        }
    }

    /**
     * A build whose workers have to stay, because threads are pinned to it.
     *
     * @param threads how many
     * @param first the names of the first of them, at most 20
     */
    public record Held(String deployment, String buildId, int threads, List<String> first) {
        private static final int MOST = 20;

        static Held of(WorkerDeploymentVersion version, Map<String, WorkerDeploymentVersion> threads) {
            List<String> all = threads.keySet().stream()
                    .filter(thread -> version.equals(threads.get(thread)))
                    .sorted()
                    .toList();
            return new Held(
                    version.getDeploymentName(),
                    version.getBuildId(),
                    all.size(),
                    all.stream().limit(MOST).toList());
        }

        /** Returns one line of text. */
        public String line() {
            return "held: build " + buildId + " of deployment " + deployment + " is no longer current, but its workers"
                    + " must stay: open threads pinned to it: " + threads + ": " + String.join(", ", first)
                    + (threads > first.size() ? ", …" : "");
        }
    }
}
