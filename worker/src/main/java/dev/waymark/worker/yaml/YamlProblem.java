package dev.waymark.worker.yaml;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A problem in a file, with its place: {@code FILE:LINE: FIELD: WORDS}. Lines are numbered from 1. */
public final class YamlProblem extends Exception {

    private static final long serialVersionUID = 1L;

    private final transient List<YamlProblem> others;
    private final String file;
    private final int line;
    private final String field;

    /** @param field empty if the problem concerns the whole file */
    public YamlProblem(String file, int line, String field, String words) {
        this(file + ":" + line + ": " + (field.isEmpty() ? "" : field + ": ") + words, file, line, field, List.of());
    }

    private YamlProblem(String message, String file, int line, String field, List<YamlProblem> others) {
        super(message);
        this.others = others;
        this.file = file;
        this.line = line;
        this.field = field;
    }

    /** Returns the first of several problems. It contains the others. */
    static YamlProblem of(List<YamlProblem> problems) {
        List<YamlProblem> sorted = problems.stream()
                .sorted(Comparator.comparing(YamlProblem::file).thenComparing(YamlProblem::line))
                .toList();
        YamlProblem first = sorted.get(0);
        return new YamlProblem(
                String.valueOf(first.getMessage()),
                first.file,
                first.line,
                first.field,
                List.copyOf(sorted.subList(1, sorted.size())));
    }

    /** The other problems that were found, which may be in other files. */
    public List<YamlProblem> others() {
        return others;
    }

    /** The messages of this problem and of the others. */
    public String all() {
        return Stream.concat(Stream.of(this), others.stream())
                .map(YamlProblem::getMessage)
                .collect(Collectors.joining("; "));
    }

    public String file() {
        return file;
    }

    public int line() {
        return line;
    }

    public String field() {
        return field;
    }
}
