package dev.waymark.rehearsal.gate;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Known findings that do not fail a gate, one per line, in the format in which a gate prints them. The message, or the
 * event and the message, may be left out: {@code trip: rules}. Empty lines and lines that begin with {@code #} are
 * ignored.
 */
public record AcceptedFindings(Set<String> lines) {
    public static final AcceptedFindings NONE = new AcceptedFindings(Set.of());

    public AcceptedFindings {
        lines = Set.copyOf(lines);
    }

    public static AcceptedFindings read(Path file) throws IOException {
        return new AcceptedFindings(Files.readAllLines(file).stream()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                .collect(Collectors.toSet()));
    }

    boolean contain(GateReport.Finding finding) {
        return lines.contains(finding.line())
                || lines.contains(finding.subject() + finding.place())
                || lines.contains(finding.subject());
    }
}
