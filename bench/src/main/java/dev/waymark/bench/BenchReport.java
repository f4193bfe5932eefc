package dev.waymark.bench;

import java.io.PrintStream;
import java.util.Arrays;
import java.util.Locale;

/** Prints the figures of benchmarks as Markdown, and marks whether each limit was met. */
public final class BenchReport {
    private final PrintStream out;
    private final boolean judges;
    private int missed;

    /** @param judges whether limits are checked or only shown */
    BenchReport(PrintStream out, boolean judges) {
        this.out = out;
        this.judges = judges;
    }

    public void line(String text) {
        out.println(text);
        out.flush();
    }

    public void title(String text) {
        line("");
        line("## " + text);
        line("");
    }

    public void head(String... columns) {
        row((Object[]) columns);
        String[] rules = new String[columns.length];
        Arrays.fill(rules, "---:");
        rules[0] = "---";
        line("|" + String.join("|", rules) + "|");
    }

    public void row(Object... cells) {
        line("| " + String.join(" | ", Arrays.stream(cells).map(String::valueOf).toList()) + " |");
    }

    /** Formats a figure with its upper limit. If limits are checked, adds whether it was met, and counts a miss. */
    public String within(double figure, double most, String format) {
        return judged(figure <= most, text(format, figure) + " (≤ " + text(format, most) + ")");
    }

    /** Like {@link #within}, but with a lower limit. */
    String atLeast(double figure, double least, String format) {
        return judged(figure >= least, text(format, figure) + " (≥ " + text(format, least) + ")");
    }

    private String judged(boolean holds, String figures) {
        if (judges && !holds) {
            missed++;
        }
        return figures + (!judges ? "" : holds ? " ✓" : " **missed**");
    }

    int missed() {
        return missed;
    }

    public static String text(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
