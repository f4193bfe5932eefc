package dev.waymark.worker.yaml;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Collects problems, so that one reading of a file finds all of them. */
public final class YamlProblems {
    private final List<YamlProblem> found = new ArrayList<>();

    /** A check that may find a problem. */
    @FunctionalInterface
    public interface Check<T> {
        T run() throws YamlProblem;
    }

    public void add(YamlProblem problem) {
        found.add(problem);
        found.addAll(problem.others());
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

    /** Throws the problems found, in the order of the file. */
    public void end() throws YamlProblem {
        if (!found.isEmpty()) {
            throw YamlProblem.of(found);
        }
    }
}
