package dev.waymark.rehearsal;

import dev.waymark.rehearsal.gate.GateReport;
import java.util.List;
import java.util.Optional;

/** A report in the XML of JUnit, for CI servers: a test case for the threads, and for each condition and candidate. */
public final class JunitReport {
    private final StringBuilder cases = new StringBuilder();
    private int count;
    private int failures;

    private JunitReport() {}

    public static String of(RolloutReport report, List<FailCondition> conditions) {
        JunitReport junit = new JunitReport();
        report.gate().ifPresent(junit::gate);
        report.rehearsal().ifPresent(rehearsal -> junit.rehearsal(rehearsal, conditions));
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"rollout\" tests=\"" + junit.count
                + "\" failures=\"" + junit.failures + "\">\n" + junit.cases + "</testsuite>\n";
    }

    private void gate(GateReport of) {
        List<String> findings =
                of.findings().stream().map(GateReport.Finding::line).toList();
        add("gate", "threads can continue", lines(findings), findings);
        List<String> problems = ReportText.agentProblems(of);
        add("gate", "workers start", lines(problems), problems);
    }

    private void rehearsal(RehearsalReport of, List<FailCondition> conditions) {
        for (RehearsalReport.OfCandidate candidate : of.candidates()) {
            List<String> shown = candidate.shown().stream()
                    .map(each -> each.thread() + " " + each.place() + ": " + ReportText.changes(each))
                    .toList();
            add(candidate.name(), "answers at every reply", of.lacks(candidate), shown);
            if (candidate.checks() > 0) {
                List<String> failed = candidate.shownChecks().stream()
                        .map(each -> each.thread() + ": " + each.check() + ": " + each.reason())
                        .toList();
                add(candidate.name(), "checks", lines(failed), shown);
            }
            conditions.forEach(
                    condition -> add(candidate.name(), "not " + condition.text(), condition.failure(candidate), shown));
        }
    }

    private static Optional<String> lines(List<String> lines) {
        return lines.isEmpty() ? Optional.empty() : Optional.of(String.join("\n", lines));
    }

    private void add(String of, String name, Optional<String> failure, List<String> details) {
        count++;
        cases.append("  <testcase classname=\"")
                .append(HtmlReport.escaped(of))
                .append("\" name=\"")
                .append(HtmlReport.escaped(name))
                .append('"');
        if (failure.isEmpty()) {
            cases.append("/>\n");
            return;
        }
        failures++;
        cases.append(">\n    <failure message=\"")
                .append(HtmlReport.escaped(failure.get()))
                .append("\">");
        details.forEach(line -> cases.append(HtmlReport.escaped(line)).append('\n'));
        cases.append("</failure>\n  </testcase>\n");
    }
}
