package dev.waymark.bench.chaos;

import dev.waymark.testkit.crash.CrashPoint;
import dev.waymark.testkit.crash.Fault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** Generates runs. The run of a seed and a number is always the same. */
final class RunGenerator {
    private static final double LATER = 0.3;
    private static final double TWICE = 0.25;
    private static final int MOST_DELAY_MILLIS = 400;

    private final SplittableRandom random;
    private final Scene scene;

    private RunGenerator(long seed, int number, Scene scene) {
        this.random = new SplittableRandom(31 * seed + number);
        this.scene = scene;
    }

    static ChaosRun run(long seed, int number, Scene scene) {
        RunGenerator dice = new RunGenerator(seed, number, scene);
        ToolVariant kind = dice.oneOf(Arrays.stream(ToolVariant.values())
                .filter(each -> scene != Scene.FROZEN || each.isFenced())
                .toList());
        int calls = dice.oneOf(ChaosAgents.CALLS);
        List<Fault> faults = new ArrayList<>(List.of(dice.fault(kind, calls)));
        if (scene != Scene.FROZEN && dice.random.nextDouble() < TWICE) {
            faults.add(dice.fault(kind, calls));
        }
        return new ChaosRun(
                "chaos-" + Long.toHexString(seed) + "-" + number, scene, ModelWire.NONE, kind, calls, faults);
    }

    private Fault fault(ToolVariant kind, int calls) {
        CrashPoint point = oneOf(points(kind));
        Fault fault = Fault.at(point).passing(1 + random.nextInt(passings(point, calls)));
        return random.nextDouble() < LATER
                ? fault.after(Duration.ofMillis(1 + random.nextInt(MOST_DELAY_MILLIS)))
                : fault;
    }

    /** Points inside of a program or a request cannot be observed. A moment after the granted claim is equivalent. */
    private List<CrashPoint> points(ToolVariant kind) {
        return Arrays.stream(CrashPoint.values())
                .filter(point -> kind.isJava() || (point != CrashPoint.MID_EFFECT && point != CrashPoint.AFTER_EFFECT))
                .filter(point -> scene == Scene.SUBAGENT || point != CrashPoint.SUBAGENT_STARTED)
                .toList();
    }

    /** How often a run without faults passes this point. */
    private int passings(CrashPoint point, int calls) {
        return switch (point) {
            case MESSAGE_ACCEPTED, SUBAGENT_STARTED -> 1;
            case MODEL_REQUESTED, MODEL_REPLIED -> scene.modelCalls();
            case CONTINUED_AS_NEW -> 2;
            case BEFORE_TOOL_POLL,
                    BEFORE_CLAIM,
                    AFTER_CLAIM,
                    MID_EFFECT,
                    AFTER_EFFECT,
                    BEFORE_COMPLETION,
                    AFTER_COMPLETION,
                    APPROVAL_ACCEPTED -> calls;
        };
    }

    private <T> T oneOf(List<T> choices) {
        return choices.get(random.nextInt(choices.size()));
    }
}
