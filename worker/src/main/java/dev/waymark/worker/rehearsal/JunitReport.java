package dev.waymark.worker.rehearsal;

import java.util.List;
import java.util.Optional;

/** A report in the XML of JUnit, which CI servers read: a test case for each condition and candidate. */
public final class JunitReport {
    private final StringBuilder cases = new StringBuilder();
    private int count;
    private int failures;

    private JunitReport() {}

    /** The document. */
    public static String of(RehearsalReport report, List<FailCondition> conditions) {
        JunitReport junit = new JunitReport();
        for (RehearsalReport.OfCandidate candidate : report.candidates()) {
            junit.add(candidate, "answers at every decision", report.lacks(candidate));
            if (candidate.checks() > 0) {
                junit.add(
                        candidate,
                        "checks",
                        candidate.shownChecks().stream()
                                .map(failed -> failed.thread() + ": " + failed.check() + ": " + failed.reason())
                                .reduce((one, other) -> one + "\n" + other));
            }
            conditions.forEach(
                    condition -> junit.add(candidate, "not " + condition.text(), condition.failure(candidate)));
        }
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"rehearsal\" tests=\"" + junit.count
                + "\" failures=\"" + junit.failures + "\">\n" + junit.cases + "</testsuite>\n";
    }

    private void add(RehearsalReport.OfCandidate candidate, String name, Optional<String> failure) {
        count++;
        cases.append("  <testcase classname=\"")
                .append(HtmlReport.escaped(candidate.name()))
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
        candidate
                .shown()
                .forEach(shown -> cases.append(HtmlReport.escaped(
                        shown.thread() + " " + shown.place() + ": " + ReportText.aspects(shown) + "\n")));
        cases.append("</failure>\n  </testcase>\n");
    }
}
