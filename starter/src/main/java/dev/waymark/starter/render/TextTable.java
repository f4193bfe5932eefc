package dev.waymark.starter.render;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;

/** Prints rows in columns. The first row is the heading. */
public final class TextTable {
    private TextTable() {}

    public static void print(Output output, List<List<String>> rows) {
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int column = 0; column < row.size(); column++) {
                String cell = row.get(column);
                boolean last = column == row.size() - 1;
                line.append(cell).append(last ? "" : " ".repeat(width(rows, column) - cell.length() + 2));
            }
            output.line(line.toString());
        }
    }

    /** A time in a column, in seconds. */
    public static String time(Instant at) {
        return at.truncatedTo(ChronoUnit.SECONDS).toString();
    }

    private static int width(List<List<String>> rows, int column) {
        return rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0);
    }
}
