package dev.waymark.rehearsal;

import dev.waymark.rehearsal.gate.GateReport;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** A report as one HTML page without scripts or references, for any browser and any screen. */
public final class HtmlReport {
    private static final int MOST_LINKS = 10;

    private static final String STYLE = """
            body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem;
                   color: #1a1a1a; background: #fff; overflow-wrap: anywhere; }
            h1 { font-size: 1.4rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
            h3 { font-size: 1rem; margin: 1rem 0 0; } a { color: inherit; }
            .result, .what { font-weight: 600; } .what { margin: .25rem 0; }
            .failed { color: #a40000; } .passed { color: #006b2d; }
            article { border: 1px solid #ccc; border-radius: .5rem; padding: .75rem 1rem; margin: 1rem 0; }
            article h3 { margin: 0; }
            .pair { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
            @media (max-width: 40rem) { .pair { grid-template-columns: 1fr; gap: .25rem; } }
            h4 { margin: .5rem 0 0; font-size: .85rem; color: #555; }
            pre { white-space: pre-wrap; margin: .25rem 0; padding: .5rem; background: #f4f4f4;
                  border-radius: .25rem; font-size: .85rem; }
            mark { background: #ffe08a; color: inherit; font-weight: 700; text-decoration: underline; }
            code { font-weight: 600; } summary { padding: .25rem 0; } footer, .where { color: #555; font-size: .85rem; }
            @media (prefers-color-scheme: dark) {
              body { color: #e6e6e6; background: #161616; } pre { background: #262626; }
              mark { background: #5c4a10; } article { border-color: #444; }
              h4, footer, .where { color: #aaa; } .failed { color: #ff8a80; } .passed { color: #7bd89a; }
            }
            """;

    private final StringBuilder page = new StringBuilder();
    private int nextCard = 1;

    private HtmlReport() {}

    public static String of(RolloutReport report) {
        HtmlReport html = new HtmlReport();
        html.write(report);
        return html.page.toString();
    }

    private void write(RolloutReport report) {
        page.append("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                + "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
        page.append(report.rehearsal().isPresent() ? "Rehearsal" : "Gate").append("</title>\n<style>\n");
        page.append(STYLE).append("</style>\n</head>\n<body>\n");
        element(
                "h1",
                "",
                report.rehearsal()
                        .map(of -> "Rehearsal of " + ReportText.counted(of.replies(), "reply") + " in "
                                + ReportText.counted(of.threads(), "thread"))
                        .orElse("Gate"));
        report.rehearsal()
                .flatMap(RehearsalReport::stopped)
                .ifPresent(why -> element("p", "result failed", "Not complete: " + why));
        if (!report.passed()) {
            element("p", "result failed", "Not passed: do not deploy this before you know why.");
        } else if (report.isJudged()) {
            element("p", "result passed", "Passed");
        } else {
            element(
                    "p",
                    "",
                    "No condition was set (--fail-on), so nothing passed or failed: judge the changes yourself"
                            + " before you deploy them.");
        }
        report.failures().forEach(failure -> element("p", "result failed", "Failed: " + failure));
        report.gate().ifPresent(of -> gate(of, report.build()));
        report.rehearsal().ifPresent(this::rehearsal);
        element("footer", "", "Waymark " + report.build());
        page.append("</body>\n</html>\n");
    }

    private void gate(GateReport of, String build) {
        element("h2", "", "Can the threads continue with this build (" + build + ")?");
        element("p", of.passed() ? "passed" : "failed", capitalized(ReportText.verdict(of)));
        ReportText.agentProblems(of).forEach(line -> element("pre", "", line));
        of.findings().forEach(finding -> element("pre", "", finding.line()));
        of.accepted().forEach(finding -> element("pre", "", "accepted: " + finding.line()));
        of.held().forEach(held -> element("pre", "", held.line()));
    }

    private void rehearsal(RehearsalReport of) {
        element(
                "p",
                "",
                "At each reply of recorded threads, changed agents were asked what they would reply instead. A"
                        + " reply calls tools or answers. Nothing was run.");
        of.candidates().forEach(this::candidate);
        if (!of.skipped().isEmpty()) {
            element("h2", "", "Not rehearsed");
            of.skipped().forEach(skipped -> element("p", "", skipped.thread() + ": " + skipped.reason()));
        }
        of.judge().map(ReportText::judge).ifPresent(line -> element("p", "", line));
        element(
                "footer",
                "",
                "Each reply was tried on the recorded past. After a reply that changes, the later ones may come"
                        + " about in another way, or not at all. " + of.contains());
    }

    private void candidate(RehearsalReport.OfCandidate of) {
        page.append("<h2>").append(code(ReportText.tried(of))).append("</h2>\n");
        ReportText.differences(of)
                .ifPresent(line ->
                        page.append("<p>").append(code(capitalized(line))).append("</p>\n"));
        ReportText.newlySafe(of)
                .ifPresent(line ->
                        page.append("<p class=\"failed\">").append(code(line)).append("</p>\n"));
        element("p", "result", capitalized(ReportText.verdict(of)));
        if (of.changes().size() > 1) {
            element("p", "", "One reply can differ in several ways:");
        }
        List<ReportCard> cards = ReportCard.of(of, nextCard);
        nextCard += cards.size();
        String weight = "";
        for (RehearsalReport.Changes changes : of.changes()) {
            if (!changes.change().weight().equals(weight)) {
                weight = changes.change().weight();
                element(
                        "h3",
                        "",
                        capitalized(weight)
                                + (changes.change().effect() ? ": what agents do outside of the conversation" : ""));
            }
            sentence(changes, cards);
        }
        if (of.changes().stream().anyMatch(each -> each.change().kind() == ReplyChange.Kind.ASKED)) {
            element(
                    "p",
                    "",
                    "“A person” is whoever decides about this agent's calls, for example in the console. Until then, the"
                            + " call waits.");
        }
        ReportText.details(of).forEach(line -> element("p", "", capitalized(line)));
        of.shownChecks()
                .forEach(failed -> element(
                        "p",
                        "failed",
                        "Check " + failed.check() + " fails in " + failed.thread() + ": " + failed.reason()));
        cards.forEach(this::card);
        int left = of.changed() + of.failed() - of.shown().size();
        if (left > 0) {
            element("p", "", left + " more are not shown.");
        }
    }

    /** Adds how many replies change in this way, with links to their cards. */
    private void sentence(RehearsalReport.Changes changes, List<ReportCard> cards) {
        ReplyChange change = changes.change();
        List<ReportCard> changed = cards.stream()
                .filter(card -> card.first().changes().stream()
                        .map(ReplyChange::anyCause)
                        .anyMatch(change::equals))
                .limit(MOST_LINKS)
                .toList();
        page.append("<p>").append(code(capitalized(ReportText.sentence(changes))));
        changed.stream()
                .findFirst()
                .filter(card -> change.kind() == ReplyChange.Kind.ARGUMENTS)
                .flatMap(card -> ReportCard.differingValues(card.first(), change.tool()))
                .ifPresent(values -> page.append(escaped(" (for example " + values + ")")));
        String links = changed.stream()
                .map(card -> "<a href=\"#c" + card.number() + "\">" + card.number() + "</a>")
                .collect(Collectors.joining(", "));
        page.append(links.isEmpty() ? "" : ": see " + links).append("</p>\n");
    }

    private void card(ReportCard card) {
        RehearsalReport.Shown first = card.first();
        page.append("<article id=\"c").append(card.number()).append("\">\n");
        element("h3", "", card.number() + ". " + ReportCard.title(first));
        ReportText.statements(first)
                .forEach(statement -> page.append("<p class=\"what\">")
                        .append(code(capitalized(statement)))
                        .append("</p>\n"));
        past(first);
        if (!card.others().isEmpty()) {
            element("h4", "", "The same changes in");
        }
        for (RehearsalReport.Shown other : card.others()) {
            String values = other.changes().stream()
                    .map(ReplyChange::tool)
                    .distinct()
                    .flatMap(tool -> ReportCard.differingValues(other, tool).stream())
                    .map(differing -> " (" + differing + ")")
                    .collect(Collectors.joining());
            page.append("<details>\n");
            element("summary", "", ReportCard.title(other) + values);
            past(other);
            page.append("</details>\n");
        }
        page.append("</article>\n");
    }

    private void past(RehearsalReport.Shown shown) {
        if (!ReportCard.isInTitle(shown)) {
            element("h4", "", "Just before, the thread had");
            element("pre", "", shown.context());
        }
        RehearsalReport.ShownReply before = shown.recorded();
        Optional<RehearsalReport.ShownReply> now = shown.now();
        texts(ReportText.text(before), now.flatMap(ReportText::text), "(no text)");
        for (CallPair<RehearsalReport.ShownCall> pair : ReportCard.pairs(shown)) {
            both(
                    pair.before().map(call -> number(before, call) + call(call, pair.now())),
                    pair.now().map(call -> number(now.orElseThrow(), call) + call(call, pair.before())),
                    "(no call)");
        }
        texts(ReportText.end(before), now.flatMap(ReportText::end), "(as usual)");
        if (!shown.then().isEmpty()) {
            element("h4", "", "What would follow");
            shown.then().forEach(step -> element("pre", "", step));
        }
        page.append("<details class=\"where\">\n");
        element("summary", "", "Where this is");
        element("p", "", "Turn " + shown.turn() + ", event " + shown.place());
        page.append("</details>\n");
    }

    /** Adds two texts side by side, with their differences marked. */
    private void texts(Optional<String> before, Optional<String> now, String none) {
        both(before.map(text -> marked(text, now)), now.map(text -> marked(text, before)), none);
    }

    /** Adds two pieces of HTML side by side, unless both are missing. */
    private void both(Optional<String> before, Optional<String> now, String none) {
        if (before.isPresent() || now.isPresent()) {
            page.append("<div class=\"pair\">\n<div><h4>Before</h4><pre>").append(before.orElse(none));
            page.append("</pre></div>\n<div><h4>With the change</h4><pre>").append(now.orElse(none));
            page.append("</pre></div>\n</div>\n");
        }
    }

    private static String number(RehearsalReport.ShownReply reply, RehearsalReport.ShownCall call) {
        return reply.calls().size() == 1 ? "" : reply.calls().indexOf(call) + 1 + ". ";
    }

    private static String call(RehearsalReport.ShownCall call, Optional<RehearsalReport.ShownCall> other) {
        StringBuilder lines = new StringBuilder(marked(call.tool(), other.map(RehearsalReport.ShownCall::tool)));
        Optional<Map<String, String>> values = JsonLeaves.of(call.args());
        Optional<Map<String, String>> others = JsonLeaves.of(other.orElse(call).args());
        if (values.isPresent() && others.isPresent()) {
            values.get()
                    .forEach((name, value) -> lines.append("\n  ")
                            .append(escaped(name + ": "))
                            .append(marked(
                                    value, Optional.ofNullable(others.get().get(name)))));
        } else {
            lines.append("\n  ")
                    .append(marked(call.args(), Optional.of(other.orElse(call).args())));
        }
        String fate = marked(ReportText.fate(call), Optional.of(ReportText.fate(other.orElse(call))));
        return lines.append("\n→ ").append(fate).toString();
    }

    /** A text, escaped, with the differences from the other text marked. */
    private static String marked(String text, Optional<String> other) {
        return WordDiff.of(text, other.orElse("")).stream()
                .map(piece -> piece.differs() ? "<mark>" + escaped(piece.text()) + "</mark>" : escaped(piece.text()))
                .collect(Collectors.joining());
    }

    /** A sentence, escaped, with the names that it quotes. */
    private static String code(String sentence) {
        return escaped(sentence).replaceAll("`([^`\n]*)`", "<code>$1</code>");
    }

    private void element(String name, String kind, String text) {
        page.append('<').append(name);
        if (!kind.isEmpty()) {
            page.append(" class=\"").append(kind).append('"');
        }
        page.append('>').append(escaped(text)).append("</").append(name).append(">\n");
    }

    private static String capitalized(String text) {
        return text.isEmpty() ? text : Character.toUpperCase(text.charAt(0)) + text.substring(1);
    }

    /** Control characters are not allowed in HTML; a report is about texts that models wrote. */
    static String escaped(String text) {
        StringBuilder escaped = new StringBuilder();
        text.codePoints().forEach(c -> {
            switch (c) {
                case '&' -> escaped.append("&amp;");
                case '<' -> escaped.append("&lt;");
                case '>' -> escaped.append("&gt;");
                case '"' -> escaped.append("&quot;");
                case '\'' -> escaped.append("&#39;");
                default -> {
                    boolean isAllowed = c == '\n'
                            || c == '\t'
                            || (c >= ' '
                                    && !Character.isISOControl(c)
                                    && Character.getType(c) != Character.SURROGATE
                                    && c != 0xFFFE
                                    && c != 0xFFFF);
                    escaped.appendCodePoint(isAllowed ? c : 0xFFFD);
                }
            }
        });
        return escaped.toString();
    }
}
