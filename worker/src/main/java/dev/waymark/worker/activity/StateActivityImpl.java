package dev.waymark.worker.activity;

import dev.waymark.connect.ServerAnswer;
import dev.waymark.contract.CarriedReference;
import dev.waymark.contract.CarriedState;
import dev.waymark.contract.ChunkedState;
import dev.waymark.contract.PreviousRunGoneException;
import dev.waymark.contract.StateChunk;
import dev.waymark.contract.StateChunkInput;
import dev.waymark.conversation.state.UnknownRulesException;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.history.RunReader;
import io.grpc.StatusRuntimeException;
import io.temporal.activity.Activity;
import io.temporal.activity.ActivityInfo;
import java.lang.ref.SoftReference;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Computes the previous run's last state from its history, and returns it chunk by chunk. */
public final class StateActivityImpl implements StateActivity {

    /**
     * After a failover, the server may not find a run for some minutes. This many attempts take a quarter of an hour.
     */
    private static final int ATTEMPTS_TO_FIND_RUN = 100;

    /** Number of attempts that are reserved for the build whose chunks the thread already has. */
    private static final int RESERVED_ATTEMPTS = 5;

    private static final Duration SOON = Duration.ofSeconds(1);

    private final RunReader runs;
    private final int attemptsToFindRun;
    private volatile @Nullable Chunked newest;

    /**
     * Cached, so that a state is computed once for all of its chunks. The garbage collector may free it if memory is
     * short.
     */
    private record Chunked(CarriedReference reference, SoftReference<ChunkedState> state) {}

    public StateActivityImpl(RunReader runs) {
        this(runs, ATTEMPTS_TO_FIND_RUN);
    }

    /** @param attemptsToFindRun how many attempts may fail to find the run before the thread fails */
    public StateActivityImpl(RunReader runs, int attemptsToFindRun) {
        this.runs = runs;
        this.attemptsToFindRun = attemptsToFindRun;
    }

    @Override
    public StateChunk fetch(StateChunkInput input) {
        ActivityInfo info = Activity.getExecutionContext().getInfo();
        try (Heartbeat heartbeat = Heartbeat.begin()) {
            ChunkedState state = state(info, input.state());
            boolean isOfSameWhole =
                    input.whole().isEmpty() || input.whole().get().equals(state.whole());
            if (!isOfSameWhole && info.getAttempt() <= RESERVED_ATTEMPTS) {
                throw passing(
                        ProblemType.STATE_DIFFERS,
                        "this build writes the state differently from the one that wrote the first chunks");
            }
            if (input.index() >= state.count()) {
                return state.chunk(0);
            }
            StateChunk chunk = state.chunk(input.index());
            if (chunk.index() == chunk.count() - 1) {
                newest = null;
            }
            return chunk;
        }
    }

    private ChunkedState state(ActivityInfo info, CarriedReference reference) {
        Chunked known = newest;
        ChunkedState state = known != null && known.reference().equals(reference)
                ? known.state().get()
                : null;
        if (state == null) {
            CarriedState carried = read(info, reference);
            if (!reference.isOf(carried.state())) {
                throw passing(
                        ProblemType.STATE_DIFFERS,
                        "the state that this build computes from the history of run " + reference.runId()
                                + " is not the one that the run had");
            }
            state = ChunkedState.of(carried);
            newest = new Chunked(reference, new SoftReference<>(state));
        }
        return state;
    }

    private CarriedState read(ActivityInfo info, CarriedReference reference) {
        return ActivityProblems.reading(() -> {
            try {
                return runs.atEnd(info.getWorkflowId(), reference.runId());
            } catch (StatusRuntimeException e) {
                if (ServerAnswer.GONE.is(e)) {
                    throw notFound(info, reference);
                }
                throw e;
            } catch (UnknownRulesException e) {
                throw e;
            } catch (IllegalStateException | IllegalArgumentException e) {
                // Retried, unlike in other activities: a permanent failure would end the thread, but another build may
                // be able to read the history.
                throw passing(ProblemType.CORRUPTION, String.valueOf(e.getMessage()));
            }
        });
    }

    /**
     * Operators see this failure as the reason why the thread waits. After the last attempt, the run fails with it.
     */
    private RuntimeException notFound(ActivityInfo info, CarriedReference reference) {
        Problem gone = new Problem(
                ProblemType.PREVIOUS_RUN_GONE,
                String.valueOf(new PreviousRunGoneException(reference.runId()).getMessage()));
        return info.getAttempt() < attemptsToFindRun
                ? ActivityProblems.passing(gone, Optional.empty())
                : ActivityProblems.permanent(gone);
    }

    private static RuntimeException passing(String type, String words) {
        return ActivityProblems.passing(new Problem(type, words), Optional.of(SOON));
    }
}
