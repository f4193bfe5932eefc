package dev.waymark.bench.chaos;

import dev.waymark.testkit.crash.EffectCheck;
import java.time.Duration;
import java.util.List;

/**
 * What came of a run.
 *
 * @param fired how many of its faults have killed their worker
 * @param recovery from the last kill to the turn's end
 * @param violations everything that is not as promised, in words
 */
public record RunResult(ChaosRun run, int fired, EffectCheck effects, Duration recovery, List<String> violations) {
    public RunResult {
        violations = List.copyOf(violations);
    }
}
