package dev.waymark.bench.chaos;

import dev.waymark.testkit.crash.EffectCheck;
import java.time.Duration;
import java.util.List;

/**
 * What a run showed: how it was disrupted, the effects of its calls, and the guarantees that it broke.
 *
 * @param fired the number of faults that fired
 * @param recovery the time from the last fault to the end of the turn; zero if no fault fired
 * @param violations a text for each broken guarantee
 */
public record RunResult(ChaosRun run, int fired, EffectCheck effects, Duration recovery, List<String> violations) {
    public RunResult {
        violations = List.copyOf(violations);
    }
}
