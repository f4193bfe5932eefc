package dev.waymark.bench.chaos;

import dev.waymark.testkit.crash.EffectCheck;
import java.time.Duration;
import java.util.List;

/**
 * The result of a run.
 *
 * @param fired the number of faults that killed their worker
 * @param recovery the time from the last kill to the end of the turn
 * @param violations broken guarantees, as text
 */
public record RunResult(ChaosRun run, int fired, EffectCheck effects, Duration recovery, List<String> violations) {
    public RunResult {
        violations = List.copyOf(violations);
    }
}
