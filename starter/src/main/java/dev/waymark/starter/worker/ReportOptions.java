package dev.waymark.starter.worker;

import dev.waymark.cli.ExitCode;
import dev.waymark.display.SafeText;
import dev.waymark.rehearsal.FailCondition;
import dev.waymark.rehearsal.HtmlReport;
import dev.waymark.rehearsal.JunitReport;
import dev.waymark.rehearsal.RehearsalReport;
import dev.waymark.rehearsal.ReportText;
import dev.waymark.rehearsal.RolloutReport;
import dev.waymark.rehearsal.gate.GateReport;
import dev.waymark.saver.PrivateFiles;
import dev.waymark.starter.render.Output;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options for where a report goes, and how it is printed. */
final class ReportOptions {
    private static final int MOST_PRINTED = 10;
    private static final int MOST_LINE = 500;

    @Option(names = "--html", paramLabel = "FILE", description = "Write the report as one HTML page.")
    private @Nullable Path html;

    @Option(names = "--junit", paramLabel = "FILE", description = "Write the results as JUnit XML.")
    private @Nullable Path junit;

    /** Writes and prints a report. Returns the exit code. */
    int report(Output output, RolloutReport report, List<FailCondition> conditions) throws IOException {
        if (html != null) {
            write(html, HtmlReport.of(report));
        }
        if (junit != null) {
            write(junit, JunitReport.of(report, conditions));
        }
        if (output.isJson()) {
            output.document(report);
        } else {
            report.rehearsal().ifPresent(rehearsal -> print(output, rehearsal));
            report.failures().forEach(failure -> output.line("failed: " + SafeText.line(failure)));
            report.gate().ifPresent(gate -> print(output, gate));
            output.note("waymark: build " + report.build());
        }
        return report.passed() ? ExitCode.DONE : ExitCode.FAILED;
    }

    private static void write(Path file, String text) throws IOException {
        PrivateFiles.createDirectories(
                Objects.requireNonNull(file.toAbsolutePath().getParent()));
        PrivateFiles.replace(file, text);
    }

    /** Prints only the summary, because findings are printed as they are found. */
    private static void print(Output output, GateReport gate) {
        ReportText.agentProblems(gate).forEach(output::line);
        gate.held().forEach(held -> output.line(held.line()));
        output.line(ReportText.verdict(gate));
    }

    private void print(Output output, RehearsalReport report) {
        for (RehearsalReport.OfCandidate candidate : report.candidates()) {
            candidate.shown().stream().limit(MOST_PRINTED).forEach(shown -> print(output, shown));
            int more = candidate.changed() + candidate.failed() - MOST_PRINTED;
            if (more > 0) {
                output.line(
                        more + " more" + (html == null ? ". Write a report of all with --html FILE" : " in " + html));
            }
            candidate.shownChecks().stream()
                    .limit(MOST_PRINTED)
                    .forEach(failed -> output.line(SafeText.line(failed.thread()) + ": check "
                            + SafeText.line(failed.check()) + " fails: " + SafeText.line(failed.reason())));
            output.line(candidate.name() + ": " + ReportText.verdict(candidate));
            ReportText.differences(candidate).ifPresent(line -> output.line("  " + SafeText.line(line)));
            ReportText.newlySafe(candidate).ifPresent(line -> output.line("  " + SafeText.line(line)));
            ReportText.sentences(candidate).forEach(line -> output.line("  " + SafeText.line(line)));
            ReportText.details(candidate).forEach(line -> output.line("  " + line));
        }
        report.judge().map(ReportText::judge).ifPresent(output::line);
        report.skipped().stream()
                .limit(MOST_PRINTED)
                .forEach(skipped -> output.note(
                        "not rehearsed: " + SafeText.line(skipped.thread()) + ": " + SafeText.line(skipped.reason())));
        int more = report.skipped().size() - MOST_PRINTED;
        if (more > 0) {
            output.note(more + " more threads were not rehearsed; --json lists them");
        }
        report.stopped()
                .ifPresent(why -> output.line("not complete: " + why + ". Raise --max-usd, and run the same"
                        + " command again: it continues"));
    }

    private static void print(Output output, RehearsalReport.Shown shown) {
        output.line(SafeText.line(shown.thread()) + "  " + shown.place() + "  turn " + shown.turn() + ": "
                + SafeText.line(ReportText.changes(shown)));
        for (ReportText.Line line : ReportText.lines(shown)) {
            String text = SafeText.line(line.text());
            output.line("  " + line.label() + (text.length() > MOST_LINE ? text.substring(0, MOST_LINE) + "…" : text));
        }
    }
}
