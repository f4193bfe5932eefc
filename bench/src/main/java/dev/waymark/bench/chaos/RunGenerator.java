package dev.waymark.bench.chaos;

import dev.waymark.testkit.crash.CrashPoint;
import dev.waymark.testkit.crash.Fault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/** Generates runs. The same seed, number and options always give the same run. */
final class RunGenerator {
    private static final double LATER = 0.3;
    private static final double TWICE = 0.25;
    private static final int MOST_DELAY_MILLIS = 400;

    /** The points of a run whose calls run in the activity that called the model. */
    static final Set<CrashPoint> FUSED = EnumSet.of(
            CrashPoint.MESSAGE_ACCEPTED,
            CrashPoint.MODEL_REQUESTED,
            CrashPoint.MODEL_REPLIED,
            CrashPoint.REPLY_SAVED,
            CrashPoint.AFTER_CLAIM,
            CrashPoint.MID_EFFECT,
            CrashPoint.AFTER_EFFECT,
            CrashPoint.BEFORE_COMPLETION,
            CrashPoint.AFTER_COMPLETION);

    private final SplittableRandom random;

    private RunGenerator(long seed, int number) {
        this.random = new SplittableRandom(31 * seed + number);
    }

    /** Returns a run. Its disruption and scene are random unless given; a given disruption must allow a given scene. */
    static ChaosRun run(long seed, int number, Optional<Disruption> disruption, Optional<Scene> scene) {
        RunGenerator dice = new RunGenerator(seed, number);
        Disruption what = disruption.orElseGet(() -> dice.oneOf(Stream.of(Disruption.values())
                .filter(each -> scene.isEmpty() || each.allows(scene.get()))
                .toList()));
        Scene where = scene.orElseGet(
                () -> dice.oneOf(Stream.of(Scene.values()).filter(what::allows).toList()));
        ToolVariant kind =
                dice.oneOf(Stream.of(ToolVariant.values()).filter(what::allows).toList());
        int calls = dice.oneOf(ChaosAgents.CALLS);
        List<Fault> faults = new ArrayList<>(List.of(dice.fault(where, kind, calls)));
        if (what.canRecur() && dice.random.nextDouble() < TWICE) {
            faults.add(dice.fault(where, kind, calls));
        }
        return new ChaosRun(
                "chaos-" + Long.toHexString(seed) + "-" + number, what, where, ModelWire.NONE, kind, calls, faults);
    }

    private Fault fault(Scene scene, ToolVariant kind, int calls) {
        CrashPoint point = oneOf(points(scene, kind));
        Fault fault = Fault.at(point).passing(1 + random.nextInt(passings(scene, kind, point, calls)));
        return random.nextDouble() < LATER
                ? fault.after(Duration.ofMillis(1 + random.nextInt(MOST_DELAY_MILLIS)))
                : fault;
    }

    /**
     * Returns the points at which a run can be disrupted. Points inside a program or an HTTP request cannot be
     * observed; {@link CrashPoint#AFTER_CLAIM} with a delay replaces them.
     */
    private static List<CrashPoint> points(Scene scene, ToolVariant kind) {
        return Stream.of(CrashPoint.values())
                .filter(point -> kind.isFused() ? FUSED.contains(point) : point != CrashPoint.REPLY_SAVED)
                .filter(point -> kind.isJava() || (point != CrashPoint.MID_EFFECT && point != CrashPoint.AFTER_EFFECT))
                .filter(point -> scene == Scene.SUBAGENT || point != CrashPoint.SUBAGENT_STARTED)
                .toList();
    }

    /** Returns how often a run without faults passes this point. */
    private static int passings(Scene scene, ToolVariant kind, CrashPoint point, int calls) {
        return switch (point) {
            case MESSAGE_ACCEPTED, SUBAGENT_STARTED, REPLY_SAVED -> 1;
            case MODEL_REQUESTED, MODEL_REPLIED -> scene.modelCalls();
            case CONTINUED_AS_NEW -> 2;
            case BEFORE_TOOL_POLL, BEFORE_CLAIM, AFTER_CLAIM, MID_EFFECT, AFTER_EFFECT, APPROVAL_ACCEPTED -> calls;
            // The outcomes of a fused step are one result.
            case BEFORE_COMPLETION, AFTER_COMPLETION -> kind.isFused() ? 1 : calls;
        };
    }

    private <T> T oneOf(List<T> choices) {
        return choices.get(random.nextInt(choices.size()));
    }
}
