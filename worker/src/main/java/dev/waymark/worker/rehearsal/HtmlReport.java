package dev.waymark.worker.rehearsal;

import dev.waymark.worker.gate.GateReport;

/** A report as one HTML page without scripts or references, for any browser and any screen. */
public final class HtmlReport {
    private static final String STYLE = """
            body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem;
                   color: #1a1a1a; background: #fff; }
            h1 { font-size: 1.4rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
            .result { font-size: 1.15rem; font-weight: 600; }
            .failed { color: #a40000; } .passed { color: #006b2d; }
            article { border: 1px solid #ccc; border-radius: .5rem; padding: .75rem 1rem; margin: 1rem 0; }
            article h3 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; }
            .what { font-weight: 600; margin: .25rem 0; }
            .pair { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
            @media (max-width: 40rem) { .pair { grid-template-columns: 1fr; gap: .25rem; } }
            h4 { margin: .5rem 0 0; font-size: .85rem; color: #555; }
            pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .25rem 0; padding: .5rem;
                  background: #f4f4f4; border-radius: .25rem; font-size: .85rem; }
            .now pre { background: #fff3d6; }
            footer { color: #555; font-size: .85rem; margin-top: 2rem; }
            @media (prefers-color-scheme: dark) {
              body { color: #e6e6e6; background: #161616; } pre { background: #262626; }
              .now pre { background: #40330f; } article { border-color: #444; }
              h4, footer { color: #aaa; } .failed { color: #ff8a80; } .passed { color: #7bd89a; }
            }
            """;

    private final StringBuilder page = new StringBuilder();

    private HtmlReport() {}

    /** The page. */
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
                        .map(of -> "Rehearsal of " + ReportText.counted(of.decisions(), "decision") + " in "
                                + ReportText.counted(of.threads(), "thread"))
                        .orElse("Gate"));
        report.rehearsal()
                .flatMap(RehearsalReport::stopped)
                .ifPresent(why -> element("p", "result failed", "Not complete: " + why));
        report.failures().forEach(failure -> element("p", "result failed", "Failed: " + failure));
        if (!report.passed()) {
            element("p", "result failed", "Not passed");
        } else if (report.isJudged()) {
            element("p", "result passed", "Passed");
        } else {
            element("p", "", "No condition was set, so nothing passed or failed: judge the differences yourself.");
        }
        report.gate().ifPresent(this::gate);
        report.rehearsal().ifPresent(this::rehearsal);
        page.append("</body>\n</html>\n");
    }

    private void gate(GateReport of) {
        element("h2", "", "Can the threads continue with this build (" + of.build() + ")?");
        element("p", of.passed() ? "passed" : "failed", capitalized(ReportText.verdict(of)));
        ReportText.agentProblems(of).forEach(line -> element("pre", "", line));
        of.findings().forEach(finding -> element("pre", "", finding.line()));
    }

    private void rehearsal(RehearsalReport of) {
        element(
                "p",
                "",
                "At each decision of these recorded threads, other agents were asked what they would decide. Nothing"
                        + " was run.");
        of.candidates().forEach(this::candidate);
        if (!of.skipped().isEmpty()) {
            element("h2", "", "Not rehearsed");
            of.skipped().forEach(skipped -> element("p", "", skipped.thread() + ": " + skipped.reason()));
        }
        of.judge().map(ReportText::judge).ifPresent(line -> element("p", "", line));
        element("footer", "", of.contains());
    }

    private void candidate(RehearsalReport.OfCandidate of) {
        element("h2", "", of.name() + (of.models().isEmpty() ? "" : " (" + String.join(", ", of.models()) + ")"));
        element("p", "result", capitalized(ReportText.verdict(of)));
        ReportText.details(of).forEach(line -> element("p", "", capitalized(line)));
        of.shownChecks()
                .forEach(failed -> element(
                        "p",
                        "failed",
                        "Check " + failed.check() + " fails in " + failed.thread() + ": " + failed.reason()));
        of.shown().forEach(this::decision);
        int left = of.changed() + of.failed() - of.shown().size();
        if (left > 0) {
            element("p", "", left + " more are not shown.");
        }
    }

    private void decision(RehearsalReport.Shown shown) {
        page.append("<article>\n");
        element("h3", "", shown.thread() + " · turn " + shown.turn() + " · " + shown.place());
        element("p", "what", capitalized(ReportText.aspects(shown)));
        element("h4", "", "The model was given, last");
        element("pre", "", shown.context());
        page.append("<div class=\"pair\">\n");
        reply("Recorded", "recorded", shown.recorded());
        shown.now().ifPresent(now -> reply("Now", "now", now));
        page.append("</div>\n");
        if (!shown.then().isEmpty()) {
            element("h4", "", "Then");
            shown.then().forEach(step -> element("pre", "", step));
        }
        page.append("</article>\n");
    }

    private void reply(String heading, String kind, RehearsalReport.ShownReply reply) {
        page.append("<div class=\"").append(kind).append("\">\n");
        element("h4", "", heading);
        ReportText.lines(reply).forEach(line -> element("pre", "", line));
        page.append("</div>\n");
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
