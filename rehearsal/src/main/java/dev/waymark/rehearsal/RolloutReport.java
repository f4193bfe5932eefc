package dev.waymark.rehearsal;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.rehearsal.gate.GateReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Tells whether a build and its agents may be deployed: whether recorded threads can continue, what agents would decide
 * in them, or both.
 *
 * @param failures why the rehearsal failed, in addition to the reasons in its report
 * @param isJudged whether there was a condition under which a complete rehearsal fails
 */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record RolloutReport(
        boolean passed,
        List<String> failures,
        Optional<GateReport> gate,
        Optional<RehearsalReport> rehearsal,
        @JsonIgnore boolean isJudged) {
    public RolloutReport {
        failures = List.copyOf(failures);
    }

    /** The version of the program or library that made the report. */
    @JsonProperty
    public String build() {
        return Optional.ofNullable(RolloutReport.class.getPackage().getImplementationVersion())
                .orElse("unpackaged");
    }

    public static RolloutReport of(GateReport gate) {
        return new RolloutReport(gate.passed(), List.of(), Optional.of(gate), Optional.empty(), true);
    }

    /**
     * @param needsAll whether each thread must be rehearsed; otherwise, those of agents that the candidates do not have
     *     are left out
     */
    public static RolloutReport of(
            Optional<GateReport> gate, RehearsalReport rehearsal, List<FailCondition> conditions, boolean needsAll) {
        List<String> failures = new ArrayList<>();
        for (RehearsalReport.OfCandidate candidate : rehearsal.candidates()) {
            conditions.forEach(condition -> condition.failure(candidate).ifPresent(failures::add));
        }
        if (needsAll) {
            rehearsal
                    .skipped()
                    .forEach(skipped -> failures.add("not rehearsed: " + skipped.thread() + ": " + skipped.reason()));
        }
        boolean passed = failures.isEmpty()
                && rehearsal.isComplete()
                && gate.filter(of -> !of.passed()).isEmpty();
        boolean isJudged = gate.isPresent() || needsAll || !conditions.isEmpty();
        return new RolloutReport(passed, failures, gate, Optional.of(rehearsal), isJudged);
    }
}
