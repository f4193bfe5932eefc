package dev.waymark.worker.workflow;

import dev.waymark.contract.CarriedReference;
import dev.waymark.contract.CarriedState;
import dev.waymark.contract.RunLimits;
import dev.waymark.contract.SideEffectMarker;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import io.temporal.workflow.Workflow;
import io.temporal.workflow.unsafe.WorkflowUnsafe;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Decides how the state gets into the next run: in its input, in chunks, or not at all. */
final class NextRunInput {
    private final CarriedState state;
    private final RunLimits limits;
    private @Nullable String packed;

    NextRunInput(CarriedState state, RunLimits limits) {
        this.state = state;
        this.limits = limits;
    }

    /**
     * Records in history whether the state fits, because packed sizes differ between zip libraries and a replay must
     * decide the same way.
     *
     * @param hard whether the run cannot continue if the state does not fit
     */
    SideEffectMarker decide(boolean hard) {
        return Workflow.sideEffect(SideEffectMarker.class, () -> {
            int bytes = packed().length();
            return bytes <= limits.mostCarriedBytes()
                    ? SideEffectMarker.fits(bytes > limits.carriedBytes())
                    : SideEffectMarker.doesNotFit(hard ? Optional.of(tooLarge(bytes)) : Optional.empty());
        });
    }

    /** The input of the next run. */
    StartInput input(StartInput current, SideEffectMarker decided) {
        return decided.inChunks()
                ? current.carrying(CarriedReference.of(Workflow.getInfo().getRunId(), state.state()))
                : current.carrying(packed());
    }

    private String packed() {
        String known = packed;
        if (known == null) {
            known = WorkflowUnsafe.deadlockDetectorOff(state::pack);
            packed = known;
        }
        return known;
    }

    private Problem tooLarge(int bytes) {
        return new Problem(
                ProblemType.TOO_LARGE,
                "the conversation takes " + bytes + " bytes packed, of at most " + limits.mostCarriedBytes()
                        + ", and this run can't grow any further");
    }
}
