package dev.waymark.bench.chaos;

import dev.waymark.contract.RunLimits;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.testkit.crash.CrashPoint;
import dev.waymark.testkit.crash.Fault;
import java.util.List;
import java.util.UUID;

/**
 * A turn in a separate thread, in which the model calls a tool {@code calls} times in one reply.
 *
 * @param faults when the run is disrupted: the first fault is for the first worker, and each further one for the next
 * worker that takes over
 */
public record ChaosRun(
        String id,
        Disruption disruption,
        Scene scene,
        ModelWire wire,
        ToolVariant kind,
        int calls,
        List<Fault> faults) {
    /**
     * A run that is disrupted at {@link CrashPoint#CONTINUED_AS_NEW} continues as new at the first opportunity after
     * this many events.
     */
    private static final int FEW_EVENTS = 12;

    public ChaosRun {
        faults = List.copyOf(faults);
    }

    public static ChaosRun of(ToolVariant kind, int calls, Fault... faults) {
        return new ChaosRun(
                "run-" + UUID.randomUUID(),
                Disruption.WORKER_KILLED,
                Scene.ALONE,
                ModelWire.NONE,
                kind,
                calls,
                List.of(faults));
    }

    /** Returns this run with its model behind another wire. */
    public ChaosRun over(ModelWire other) {
        return new ChaosRun(id, disruption, scene, other, kind, calls, faults);
    }

    /** Returns this run in another scene. */
    public ChaosRun in(Scene other) {
        return new ChaosRun(id, disruption, other, wire, kind, calls, faults);
    }

    /** Returns this run with another disruption. */
    public ChaosRun with(Disruption other) {
        return new ChaosRun(id, other, scene, wire, kind, calls, faults);
    }

    /** Returns whether a person has to approve every call. */
    boolean isApproved() {
        return diesAt(CrashPoint.APPROVAL_ACCEPTED);
    }

    String agent() {
        return ChaosAgents.agent(scene, wire, kind, calls, isApproved());
    }

    StartInput start() {
        StartInput input = StartInput.of(agent());
        return diesAt(CrashPoint.CONTINUED_AS_NEW)
                ? input.withLimits(RunLimits.DEFAULT.withSoftEvents(FEW_EVENTS))
                : input;
    }

    private boolean diesAt(CrashPoint point) {
        return faults.stream().anyMatch(fault -> fault.point() == point);
    }

    @Override
    public String toString() {
        return disruption + " " + kind + " x " + calls + " " + faults + (wire == ModelWire.NONE ? "" : " " + wire)
                + (scene == Scene.ALONE ? "" : " " + scene);
    }
}
