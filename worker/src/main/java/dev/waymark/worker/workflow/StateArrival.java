package dev.waymark.worker.workflow;

import dev.waymark.contract.CarriedReference;
import dev.waymark.contract.CarriedState;
import dev.waymark.contract.StateAssembly;
import dev.waymark.contract.StateChunk;
import dev.waymark.contract.StateChunkInput;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.message.Refusal;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.state.UnknownRulesException;
import dev.waymark.conversation.value.Problem;
import io.temporal.activity.ActivityOptions;
import io.temporal.common.RetryOptions;
import io.temporal.failure.ActivityFailure;
import io.temporal.failure.ApplicationFailure;
import io.temporal.workflow.Workflow;
import io.temporal.workflow.unsafe.WorkflowUnsafe;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Fetches the state of the previous run into the history of this one, one chunk at a time, because a workflow task with
 * several chunks could be too large. Everything that arrives meanwhile is postponed, and then applied in the order of
 * arrival.
 */
final class StateArrival {
    private static final Duration TIMEOUT = Duration.ofMinutes(5);

    /** No limit on attempts, because the thread cannot do anything else. */
    private static final RetryOptions RETRIES = RetryOptions.newBuilder()
            .setInitialInterval(Duration.ofMillis(200))
            .setMaximumInterval(Duration.ofSeconds(10))
            .build();

    private final StateAssembly assembly;
    private final Consumer<CarriedState> arrived;
    private final List<Runnable> postponed = new ArrayList<>();
    private long bytes;
    private boolean fetching;
    private boolean complete;
    private @Nullable RuntimeException failed;

    StateArrival(CarriedReference reference, Consumer<CarriedState> arrived) {
        this.assembly = new StateAssembly(reference);
        this.arrived = arrived;
    }

    /**
     * Returns when the state has arrived and everything that was postponed has been applied. Fails if the state cannot
     * be fetched, or has unknown rules.
     */
    void await() {
        while (!complete) {
            fetch();
            Workflow.await(() -> !fetching);
            if (failed != null) {
                throw failed;
            }
        }
        Workflow.await(Workflow::isEveryHandlerFinished);
    }

    /** The size of the history when the state had arrived; 0 before that. */
    long bytes() {
        return bytes;
    }

    void postpone(Runnable application) {
        postponed.add(application);
    }

    /**
     * Waits for the state, applies the update, and returns its answer. Fails if a validator would have refused the
     * update.
     */
    Object answer(
            Fact.Inbound update,
            Function<Fact.Inbound, Optional<Problem>> refusal,
            Function<Fact.Inbound, Object> application) {
        List<Object> answer = new ArrayList<>();
        List<Problem> refused = new ArrayList<>();
        postpone(() -> {
            // Applied even if it is refused, like a signal, because history does not show which updates were refused.
            refusal.apply(update).ifPresent(refused::add);
            answer.add(application.apply(update));
        });
        Workflow.newDetachedCancellationScope(() -> Workflow.await(() -> !answer.isEmpty()))
                .run();
        if (!refused.isEmpty()) {
            Refusal why = new Refusal(refused.get(0));
            throw ApplicationFailure.newNonRetryableFailure(why.getMessage(), Refusal.class.getName());
        }
        return answer.get(0);
    }

    private void fetch() {
        StateChunkInput next = assembly.next();
        ActivityOptions options = ActivityOptions.newBuilder()
                .setStartToCloseTimeout(TIMEOUT)
                .setHeartbeatTimeout(RunningWork.REPEATABLE_SILENCE)
                .setRetryOptions(RETRIES)
                .setSummary("carry the state over, part " + (next.index() + 1))
                .build();
        fetching = true;
        Workflow.newUntypedActivityStub(options)
                .executeAsync(WireNames.STATE_ACTIVITY, StateChunk.class, next)
                .handle((chunk, failure) -> {
                    fetching = false;
                    take(failure == null ? chunk : null, failure);
                    return null;
                });
    }

    private void take(@Nullable StateChunk chunk, @Nullable RuntimeException failure) {
        if (failure instanceof ActivityFailure ended) {
            failed = ended;
            return;
        }
        Optional<CarriedState> whole;
        try {
            whole = WorkflowUnsafe.deadlockDetectorOff(() -> assembly.take(chunk));
        } catch (UnknownRulesException e) {
            failed = e; // Thrown by await, so that the workflow task fails and is left to newer workers.
            return;
        }
        whole.ifPresent(state -> {
            complete = true;
            bytes = Workflow.getInfo().getHistorySize();
            arrived.accept(state);
            postponed.forEach(Runnable::run);
            postponed.clear();
        });
    }
}
