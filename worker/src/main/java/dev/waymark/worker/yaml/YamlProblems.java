package dev.waymark.worker.yaml;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Collects problems, so that reading a file once finds all of them. */
public final class YamlProblems {
    private final List<YamlProblem> found = new ArrayList<>();
    private final List<String> settled = new ArrayList<>();

    /** A check that may find a problem. */
    @FunctionalInterface
    public interface Check<T> {
        T run() throws YamlProblem;
    }

    /** Reads a field's value. */
    @FunctionalInterface
    public interface Reading<T> {
        T of(YamlValue value) throws YamlProblem;
    }

    /** Reads a field whose name is not known in advance. */
    @FunctionalInterface
    public interface EntryReading<T> {
        T of(String name, YamlValue value) throws YamlProblem;
    }

    /** A check without a result. */
    @FunctionalInterface
    public interface Action {
        void run() throws YamlProblem;
    }

    public void add(YamlProblem problem) {
        Stream.concat(Stream.of(problem), problem.others().stream())
                .filter(each -> !isSettled(each.field()))
                .forEach(found::add);
    }

    /** Ignores further problems of this field and of fields in it. */
    void settle(String field) {
        settled.add(field);
    }

    boolean isSettled(String field) {
        return settled.stream()
                .anyMatch(
                        other -> field.equals(other) || field.startsWith(other + ".") || field.startsWith(other + "["));
    }

    /** The result of the check, or empty if it finds a problem. */
    public <T> Optional<T> check(Check<T> check) {
        try {
            return Optional.ofNullable(check.run());
        } catch (YamlProblem e) {
            add(e);
            return Optional.empty();
        }
    }

    /** The value of an optional field; empty if it is missing, or if reading it finds a problem. */
    public <T> Optional<T> read(Optional<YamlValue> field, Reading<T> reading) {
        return field.flatMap(value -> check(() -> reading.of(value)));
    }

    public void run(Action action) {
        try {
            action.run();
        } catch (YamlProblem e) {
            add(e);
        }
    }

    public boolean isEmpty() {
        return found.isEmpty();
    }

    /** Throws the problems found, if there are any, sorted by file and line. */
    public void end() throws YamlProblem {
        if (!found.isEmpty()) {
            throw YamlProblem.of(found);
        }
    }
}
