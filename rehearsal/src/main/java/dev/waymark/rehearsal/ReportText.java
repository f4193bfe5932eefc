package dev.waymark.rehearsal;

import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.Usd;
import dev.waymark.rehearsal.gate.GateReport;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The sentences of a report, for terminals and for HTML. */
public final class ReportText {
    private ReportText() {}

    /** The result of a candidate in one sentence. */
    public static String verdict(RehearsalReport.OfCandidate of) {
        if (of.replies() == 0) {
            return of.failed() == 0 ? "no reply was rehearsed" : of.failed() + " replies without an answer";
        }
        return of.changed() + " of " + of.replies() + " replies would change; " + of.same() + " stay the same"
                + (of.near() == 0 ? "" : " (" + of.near() + " with nearly the same text)")
                + (of.failed() == 0 ? "" : "; " + of.failed() + " got no answer");
    }

    /** The agents under test, and their models. */
    static String tried(RehearsalReport.OfCandidate of) {
        String models = String.join(", ", of.models());
        String with = " with " + models;
        String agents =
                of.name().endsWith(with) ? of.name().substring(0, of.name().length() - with.length()) : of.name();
        return "Tried: " + (agents.equals("recorded") ? "the recorded agents" : "the agents in `" + agents + "`")
                + (models.isEmpty() ? "" : ", with the model" + (of.models().size() == 1 ? " " : "s ") + models);
    }

    /** How the agents differ from those that the threads recorded. */
    public static Optional<String> differences(RehearsalReport.OfCandidate of) {
        return Optional.of("different from the recorded agents: " + String.join(", ", of.differences()))
                .filter(line -> !of.differences().isEmpty());
    }

    /** The tools whose lost calls would now run again without a check or a person, and did not before. */
    public static Optional<String> newlySafe(RehearsalReport.OfCandidate of) {
        return Optional.of("DANGER: declared safe to retry, and was not: "
                        + of.newlySafe().stream().map(tool -> "`" + tool + "`").collect(Collectors.joining(", "))
                        + ". Calls would run without a claim, and those that are lost would run again")
                .filter(line -> !of.newlySafe().isEmpty());
    }

    /** The changes, one sentence for each kind, with their importance. */
    public static List<String> sentences(RehearsalReport.OfCandidate of) {
        return of.changes().stream()
                .map(each -> each.change().weight() + ": " + sentence(each))
                .toList();
    }

    /** A kind of change as a sentence, with the number of its replies. */
    static String sentence(RehearsalReport.Changes changes) {
        String where = changes.change()
                .among()
                .map(calling -> some(changes.replies(), changes.of()) + " replies that " + calling)
                .orElseGet(() -> counted(changes.replies(), "reply"));
        String what = changes.change().words(" in " + where);
        boolean isOne = changes.causes().size() == 1 && changes.causes().containsValue(changes.replies());
        String why = changes.causes().entrySet().stream()
                .map(each ->
                        (isOne ? "" : each.getValue() + " ") + each.getKey().words())
                .collect(Collectors.joining("; "));
        return why.isEmpty() ? what : what + (isOne ? ", " : ": ") + why;
    }

    private static String some(int number, int of) {
        return number == of && of > 1 ? "all " + of : number + " of the " + of;
    }

    /** The number of failed checks, and the measurements before and with the change, in a few short lines. */
    public static List<String> details(RehearsalReport.OfCandidate of) {
        List<String> lines = new ArrayList<>();
        if (of.checks() > 0) {
            lines.add("checks: " + of.failedChecks() + " of " + of.checks() + " fail");
        }
        List<String> measured = new ArrayList<>();
        Spent before = of.recorded().spent();
        Spent now = of.now().spent();
        add(measured, "tokens: %,d", before.usage().total(), now.usage().total());
        add(measured, "USD without caching: %s", dollars(before), dollars(now));
        add(
                measured,
                "seconds per reply: %.1f",
                seconds(of.recorded().millis(), of.replies()),
                seconds(of.now().millis(), of.answers()));
        if (!measured.isEmpty()) {
            String votes = of.answers() > of.replies() ? " (all votes together)" : "";
            lines.add(String.join("; ", measured) + votes);
        }
        return lines;
    }

    private static BigDecimal dollars(Spent spent) {
        return spent.cost().orElse(Usd.ZERO).dollars().stripTrailingZeros();
    }

    private static double seconds(long millis, int replies) {
        return Math.round(millis / 100.0 / Math.max(1, replies)) / 10.0;
    }

    /** Leaves out values that are zero or unknown on one side: scripted models, for example, measure nothing. */
    private static void add(List<String> measured, String format, Number before, Number now) {
        if (before.doubleValue() > 0 && now.doubleValue() > 0) {
            measured.add(String.format(Locale.ROOT, format + " before, ", before)
                    + String.format(Locale.ROOT, format.substring(format.indexOf('%')) + " with the change", now));
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
                + (bad == 0 ? "no problem in a thread" : "problems in " + bad)
                + (of.accepted().isEmpty()
                        ? ""
                        : ", accepted findings: " + of.accepted().size());
    }

    /** Why a worker would not start with the agent files, a line for each problem. */
    public static List<String> agentProblems(GateReport of) {
        return of.agentProblems().stream()
                .map(problem -> "agents: a worker would not start: " + problem)
                .toList();
    }

    /** The judge of texts, and its cost. */
    public static String judge(RehearsalReport.Judged judge) {
        return "Judged by " + judge.model() + ", answers: " + judge.answers()
                + judge.spent()
                        .cost()
                        .filter(cost -> cost.picos() > 0)
                        .map(cost -> ", USD: " + cost)
                        .orElse("");
    }

    /** The changes of a reply, in one line. */
    public static String changes(RehearsalReport.Shown shown) {
        return String.join("; ", statements(shown));
    }

    /** The changes of a reply, or the reason why it has no answer. */
    static List<String> statements(RehearsalReport.Shown shown) {
        List<String> statements = new ArrayList<>();
        shown.problem().ifPresent(problem -> statements.add("no answer: " + problem));
        shown.changes().forEach(change -> statements.add(change.words()));
        if (shown.votes() > 1) {
            statements.add(shown.same() + " of " + shown.votes() + " votes decide as before");
        }
        return statements;
    }

    /** A line about a reply, behind a label of fixed width. */
    public record Line(String label, String text) {
        @Override
        public String toString() {
            return "  " + label + text;
        }
    }

    /** A reply before and with the change, for terminals. */
    public static List<Line> lines(RehearsalReport.Shown shown) {
        List<Line> lines = new ArrayList<>();
        lines.add(new Line("context:         ", shown.context()));
        lines(shown.recorded()).forEach(line -> lines.add(new Line("before:          ", line)));
        shown.now().ifPresent(now -> lines(now).forEach(line -> lines.add(new Line("with the change: ", line))));
        shown.then().forEach(step -> lines.add(new Line("then:            ", step)));
        return lines;
    }

    private static List<String> lines(RehearsalReport.ShownReply reply) {
        List<String> lines = new ArrayList<>();
        text(reply).ifPresent(lines::add);
        reply.calls().forEach(call -> lines.add(call.tool() + " " + call.args() + " → " + fate(call)));
        end(reply).ifPresent(lines::add);
        return lines;
    }

    /** The text of a reply, if it matters. */
    static Optional<String> text(RehearsalReport.ShownReply reply) {
        return reply.text().isBlank()
                ? Optional.of("(no text)").filter(none -> reply.calls().isEmpty())
                : Optional.of(reply.text());
    }

    /** Why a reply ended, if it did not end as usual. */
    static Optional<String> end(RehearsalReport.ShownReply reply) {
        return Optional.of("(ended: " + reply.end() + ")")
                .filter(end -> !Set.of("end_turn", "tool_use").contains(reply.end()));
    }

    /** What happens to a call before it runs, and why. */
    static String fate(RehearsalReport.ShownCall call) {
        String words = switch (call.then()) {
            case "allow" -> "runs without asking";
            case "ask" -> "waits until a person approves it";
            case "deny" -> "is denied";
            default -> "is refused";
        };
        return words + call.reason().map(reason -> " (" + reason + ")").orElse("");
    }

    /** A number of things, such as "1 thread". */
    static String counted(int number, String thing) {
        return number + " " + thing + (number == 1 ? "" : "s");
    }
}
