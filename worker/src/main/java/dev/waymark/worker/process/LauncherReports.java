package dev.waymark.worker.process;

import java.time.Duration;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The reports of one launcher about its program. Other programs of the same user can write into the pipe of the
 * reports. Therefore each report is a random word that is valid once, and that only the launcher receives, on its
 * stdin. A program that reads the pipe sees only words that are no longer valid.
 *
 * <p>After the start, only an end may be reported. Any other report comes from another program, and makes the end of
 * this program unknown.
 *
 * <p>Thread-safe.
 */
final class LauncherReports {
    /** In the order in which the launcher receives their words. */
    private enum Report {
        START,
        LATE,
        UNSTARTED,
        TIMEOUT,
        EXIT,
        GONE
    }

    private static final Set<Report> ENDS = EnumSet.of(Report.LATE, Report.UNSTARTED, Report.EXIT);

    private final Map<String, Report> words = new LinkedHashMap<>();
    private final Set<Report> seen = EnumSet.noneOf(Report.class);
    private boolean forged;
    private boolean givenUp;
    private boolean timedOut;
    private Optional<Long> session = Optional.empty();
    private Optional<Integer> exitCode = Optional.empty();

    LauncherReports() {
        for (Report report : Report.values()) {
            words.put(Shell.newWord(), report);
        }
    }

    /** The line that passes the words to the launcher. */
    String words() {
        return String.join(" ", words.keySet()) + "\n";
    }

    /** Takes a line of the reports. Returns false if another program has written the line or a part of it. */
    synchronized boolean take(String line) {
        String[] parts = line.split(" ", 2);
        Optional<Report> report = Optional.ofNullable(words.get(parts[0]));
        forged = forged || report.isEmpty() || !mayFollow(report.get()) || !note(report.get(), parts[parts.length - 1]);
        return !forged;
    }

    private boolean mayFollow(Report report) {
        boolean over = seen.stream().anyMatch(ENDS::contains);
        // Two shells of the launcher may find at the same time that nothing is left.
        return (report == Report.GONE || !seen.contains(report))
                && switch (report) {
                    case LATE -> seen.isEmpty();
                    case START -> !over;
                    case UNSTARTED, EXIT -> seen.contains(Report.START) && !over;
                    case TIMEOUT, GONE -> true;
                };
    }

    private boolean note(Report report, String number) {
        seen.add(report);
        try {
            switch (report) {
                case START -> session = Optional.of(Long.parseLong(number));
                case EXIT -> exitCode = givenUp ? Optional.empty() : Optional.of(Integer.parseInt(number));
                // If the program exited first, the timeout only ended its remaining child processes.
                case TIMEOUT -> timedOut = exitCode.isEmpty();
                case LATE, UNSTARTED, GONE -> {}
            }
            return true;
        } catch (NumberFormatException e) {
            return false;
        }
    }

    /** A program whose exit is reported after this call counts as killed. */
    synchronized void giveUp() {
        givenUp = true;
    }

    /** The program's session, once it has started. */
    synchronized Optional<Long> session() {
        return session;
    }

    /** Whether it is known how the program ended, or that it did not run. */
    synchronized boolean haveEnd() {
        return !forged && (exitCode.isPresent() || seen.contains(Report.LATE) || seen.contains(Report.UNSTARTED));
    }

    synchronized boolean haveExit() {
        return !forged && exitCode.isPresent();
    }

    /** Whether no process of the program is left. */
    synchronized boolean areGone() {
        return !forged && seen.contains(Report.GONE);
    }

    /** How the program ended, once no process of it is left. */
    synchronized CommandResult result(String program, Duration timeout, String stdout, String stderr) {
        if (forged) {
            return new CommandResult.Killed(
                    "its end is unknown, because another program wrote into the pipe of its launcher", stderr);
        }
        if (seen.contains(Report.LATE)) {
            return new CommandResult.NotStarted(program + " was not started in time", true);
        }
        if (seen.contains(Report.UNSTARTED)) {
            return new CommandResult.NotStarted("cannot start " + program, false);
        }
        if (timedOut) {
            return new CommandResult.Killed("timed out after " + words(timeout) + " and was killed", stderr);
        }
        return exitCode.<CommandResult>map(code -> new CommandResult.Exited(code, stdout, stderr))
                .orElseGet(() -> new CommandResult.Killed("it was killed because its launcher was killed", stderr));
    }

    private static String words(Duration time) {
        return time.toMillis() % 1000 == 0 ? time.toSeconds() + "s" : time.toMillis() + "ms";
    }
}
