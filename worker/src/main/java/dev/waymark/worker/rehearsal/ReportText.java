package dev.waymark.worker.rehearsal;

import dev.waymark.conversation.value.Usd;
import dev.waymark.worker.gate.GateReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** The sentences of a report, for terminals and for HTML. */
public final class ReportText {
    private ReportText() {}

    /** The result of a candidate in one sentence. */
    public static String verdict(RehearsalReport.OfCandidate of) {
        if (of.decisions() == 0) {
            return of.failed() == 0 ? "no decision was rehearsed" : of.failed() + " decisions without an answer";
        }
        return of.changed() + " of " + of.decisions() + " decisions would change ("
                + percent(of.changed(), of.decisions()) + ")"
                + (of.near() == 0 ? "" : ", " + of.near() + " have nearly the same text")
                + (of.failed() == 0 ? "" : ", " + of.failed() + " got no answer");
    }

    /** What changes, and what it costs: a few short lines. */
    public static List<String> details(RehearsalReport.OfCandidate of) {
        List<String> lines = new ArrayList<>();
        if (!of.aspects().isEmpty()) {
            lines.add(of.aspects().entrySet().stream()
                    .sorted(Map.Entry.<Aspect, Integer>comparingByValue().reversed())
                    .map(each -> each.getValue() + " " + each.getKey().words())
                    .collect(Collectors.joining(", ")));
        }
        List<String> calls = new ArrayList<>();
        add(calls, of.newlyAsked(), "newly asking a person");
        add(calls, of.newlyAllowed(), "newly allowed");
        add(calls, of.newlyDenied(), "newly denied");
        add(calls, of.refused(), "refused");
        if (!calls.isEmpty()) {
            lines.add("calls: " + String.join(", ", calls));
        }
        if (of.checks() > 0) {
            lines.add("checks: " + of.failedChecks() + " of " + of.checks() + " fail");
        }
        if (of.decisions() > 0) {
            lines.add(String.format(
                    Locale.ROOT,
                    "tokens: %,d recorded, %,d now; USD: %s recorded, %s now; time per reply: %.1f s recorded, %.1f s now",
                    of.recorded().spent().usage().total(),
                    of.now().spent().usage().total(),
                    of.recorded().spent().cost().map(Usd::toString).orElse("unknown"),
                    of.now().spent().cost().map(Usd::toString).orElse("unknown"),
                    of.recorded().millis() / 1000.0 / of.decisions(),
                    of.now().millis() / 1000.0 / Math.max(1, of.answers())));
        }
        return lines;
    }

    private static void add(List<String> calls, int count, String words) {
        if (count > 0) {
            calls.add(count + " " + words);
        }
    }

    /** Whether threads can continue, in one sentence. */
    public static String verdict(GateReport of) {
        long bad = of.findings().stream()
                .map(GateReport.Finding::thread)
                .distinct()
                .count();
        return (of.passed() ? "passed: " : "failed: ") + of.checked() + " of " + of.threads() + " threads checked, "
                + of.events() + " events, " + (of.live() ? "running workflows queried, " : "")
                + (bad == 0 ? "no problem in a thread" : "problems in " + bad);
    }

    /** Why a worker would not start with the agent files, a line for each problem. */
    public static List<String> agentProblems(GateReport of) {
        return of.agentProblems().stream()
                .map(problem -> "agents: a worker would not start: " + problem)
                .toList();
    }

    /** Who judged texts, and what that cost. */
    public static String judge(RehearsalReport.Judged judge) {
        return "Judged by " + judge.model() + ", votes for each question: " + judge.votes() + ", answers: "
                + judge.answers() + ", USD: "
                + judge.spent().cost().map(Usd::toString).orElse("0");
    }

    /** In what a decision differs. */
    public static String aspects(RehearsalReport.Shown shown) {
        return shown.problem()
                .map(problem -> "no answer: " + problem)
                .orElseGet(() -> shown.aspects().stream().map(Aspect::words).collect(Collectors.joining(", "))
                        + (shown.votes() > 1
                                ? "; " + shown.same() + " of " + shown.votes() + " votes are as recorded"
                                : ""));
    }

    /** What a reply decides, a line for each call. */
    public static List<String> lines(RehearsalReport.ShownReply reply) {
        List<String> lines = new ArrayList<>();
        if (!reply.text().isBlank() || reply.calls().isEmpty()) {
            lines.add(reply.text().isBlank() ? "(no text)" : reply.text());
        }
        reply.calls()
                .forEach(call -> lines.add(call.tool() + " " + call.args() + " → " + call.then()
                        + call.reason().map(reason -> ": " + reason).orElse("")));
        if (!reply.end().equals("end_turn") && !reply.end().equals("tool_use")) {
            lines.add("(ended: " + reply.end() + ")");
        }
        return lines;
    }

    /** A number of things, such as "1 thread". */
    static String counted(int number, String thing) {
        return number + " " + thing + (number == 1 ? "" : "s");
    }

    private static String percent(int part, int whole) {
        return String.format(Locale.ROOT, "%.1f %%", 100.0 * part / whole);
    }
}
