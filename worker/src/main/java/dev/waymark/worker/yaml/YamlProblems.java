package dev.waymark.worker.yaml;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Goes on after a problem, so that one look at a file finds all of them. */
public final class YamlProblems {
    private final List<YamlProblem> found = new ArrayList<>();

    /** Something that can go wrong. */
    @FunctionalInterface
    public interface Check<T> {
        T run() throws YamlProblem;
    }

    public void add(YamlProblem problem) {
        found.add(problem);
        found.addAll(problem.others());
    }

    /** What the check returns, or nothing when it finds a problem. */
    public <T> Optional<T> check(Check<T> check) {
        try {
            return Optional.ofNullable(check.run());
        } catch (YamlProblem e) {
            add(e);
            return Optional.empty();
        }
    }

    /** Throws what was found, in the order of the file. */
    public void end() throws YamlProblem {
        if (!found.isEmpty()) {
            throw YamlProblem.of(found);
        }
    }
}
