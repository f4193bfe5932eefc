package dev.waymark.bench.chaos;

import dev.waymark.testkit.crash.Effects;
import java.time.Duration;
import java.util.List;

/**
 * What came of a run.
 *
 * @param fired how many of its faults have killed their worker
 * @param recovery from the last kill to the turn's end
 * @param violations everything that is not as promised, in words
 */
public record Result(Run run, int fired, Effects effects, Duration recovery, List<String> violations) {
    public Result {
        violations = List.copyOf(violations);
    }
}
