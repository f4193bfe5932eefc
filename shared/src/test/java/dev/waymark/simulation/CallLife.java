package dev.waymark.simulation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The table of {@code docs/call-life.md}: each status of a call, where it may go from there, and which facts take it. */
final class CallLife {
    /** How the coverage names a move: this, and then {@code from | to | fact}. */
    static final String MOVE = "move ";

    private static final Path PAGE = Path.of("..", "docs", "call-life.md");

    private CallLife() {}

    /** Every move that may happen. */
    static Set<String> documented() throws IOException {
        return moves(row -> true);
    }

    /** Those that happen in any long simulation. */
    static Set<String> expected() throws IOException {
        return moves(row -> !row.contains("*rare*"));
    }

    private static Set<String> moves(Predicate<String> rows) throws IOException {
        return Files.readAllLines(PAGE).stream()
                .filter(line -> line.startsWith("| `"))
                .filter(rows)
                .flatMap(CallLife::moves)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Stream<String> moves(String row) {
        String[] cells = row.replace("`", "").split("\\|");
        return Stream.of(cells[3].split(","))
                .map(fact -> cells[1].strip() + " | " + cells[2].strip() + " | " + fact.strip());
    }

    static Set<String> seen(Coverage coverage) {
        return coverage.counts().keySet().stream()
                .filter(what -> what.startsWith(MOVE))
                .map(what -> what.substring(MOVE.length()))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
