package dev.waymark.client;

import dev.waymark.client.connection.MomentStream;
import dev.waymark.client.connection.Requests;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.saver.CheckpointOwner;
import dev.waymark.saver.SaverException;
import dev.waymark.timeline.Moment;
import io.temporal.client.WorkflowTargetOptions;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** A thread's entry in the saver of a client, and the steps that restore the thread from it. */
final class SavedThread {
    private final ClientContext context;
    private final SaveOptions saving;
    private final String thread;

    /** The client must have a saver. */
    SavedThread(ClientContext context, String thread) {
        this.context = context;
        this.saving = context.saving().orElseThrow();
        this.thread = thread;
    }

    /** Returns the ids of all threads that the saver of a client has. */
    static List<String> all(ClientContext context) {
        return answered(() -> context.saving().orElseThrow().bounded().list());
    }

    Optional<Json> load() {
        return answered(() -> saving.bounded().load(thread));
    }

    boolean exists() {
        return answered(() -> saving.bounded().exists(thread));
    }

    Optional<CheckpointOwner> owner() {
        return answered(() -> saving.bounded().owner(thread));
    }

    /**
     * Checks that another server has not restored this thread from the client's saver, if the client has one. Both
     * threads would have the same open calls with the same idempotency keys, and each server would make these calls. A
     * saver that fails does not make the check fail.
     *
     * @throws WaymarkException.Refused if another server has restored the thread
     */
    static void checkThatNoOtherServerHas(ClientContext context, String thread) {
        if (context.saving().isEmpty()) {
            return;
        }
        context.requests().find(thread).filter(Requests.Known::open).ifPresent(known -> {
            String firstRun = context.histories().firstRunId(thread, known.runId());
            new SavedThread(context, thread)
                    .otherOwner(firstRun)
                    // Another thread that happens to have the same name has another session.
                    .filter(owner -> owner.session()
                            .equals(context.read(thread).now().session().orElse(thread)))
                    .ifPresent(owner -> {
                        throw new WaymarkException.Refused(
                                ProblemType.CHECKPOINT_SUPERSEDED,
                                "the thread was restored on another server (epoch " + owner.epoch() + "): " + thread,
                                "Continue it there, and stop it here");
                    });
        });
    }

    /** Returns the owner of the entry if it is another thread; empty also if the saver fails. */
    private Optional<CheckpointOwner> otherOwner(String firstRunId) {
        try {
            return saving.bounded().owner(thread).filter(owner -> !owner.run().equals(firstRunId));
        } catch (SaverException e) {
            // A later save reports the failure.
            return Optional.empty();
        }
    }

    private static <T> T answered(Supplier<T> question) {
        try {
            return question.get();
        } catch (SaverException e) {
            throw new WaymarkException.Refused(e.type(), String.valueOf(e.getMessage()), e.remedy());
        }
    }

    /**
     * Waits until a worker has resolved the agent of the restored thread, but not longer than {@link
     * Requests#WORKER_WAIT}. If it is not known by then, the caller takes over the entry anyway: a worker may start
     * later and make the open calls, and the thread can be saved only if it owns the entry.
     *
     * @throws WaymarkException if the agent does not exist: the thread has closed without doing anything, its id is
     *     free, and the saver's entry is unchanged
     */
    void awaitAgent(String runId) {
        WaitDeadline deadline = WaitDeadline.after(Requests.WORKER_WAIT);
        try (MomentStream moments = context.moments(thread, runId)) {
            while (!deadline.isPast() && !moments.isClosed()) {
                for (Moment moment : moments.next(deadline.millisLeft())) {
                    if (moment.state().policy().isPresent()) {
                        return;
                    }
                    if (moment.state().lacksAgent()) {
                        throw notRestored(runId, moment.state());
                    }
                }
            }
        }
    }

    private WaymarkException notRestored(String runId, Conversation closed) {
        Problem problem = AgentResult.of(thread, runId, closed, closed.turn())
                .problem()
                .orElseGet(() -> new Problem(ProblemType.AGENT_INVALID, "its agent was not found"));
        String message = "the thread is not restored, " + problem.message() + ": " + thread;
        Remedy remedy = Remedy.of(Remedy.Action.RESTORE_WITH_AGENT, thread);
        return problem.type().equals(ProblemType.NOT_FOUND)
                ? new WaymarkException.NotFound(message, remedy)
                : new WaymarkException.Refused(problem.type(), message, remedy);
    }

    /**
     * Makes this run the owner of the entry, so that the previous thread can no longer replace it. If another server's
     * thread has taken over the entry since {@code before} was read, terminates this run and throws, so that only one
     * of the threads makes their open calls.
     */
    void takeOver(String runId, Optional<CheckpointOwner> before) {
        try {
            String agent = context.histories().startInput(thread, runId).agent();
            CheckpointOwner owner = before.map(
                            earlier -> earlier.succeededBy(runId, agent.isEmpty() ? earlier.agent() : agent))
                    .orElseGet(() -> CheckpointOwner.first(runId, agent, thread));
            saving.bounded().handOver(thread, owner);
        } catch (SaverException e) {
            if (!e.type().equals(ProblemType.CHECKPOINT_SUPERSEDED)) {
                context.tell(new ThreadEvent.SaveFailed(e));
                return;
            }
            context.connection()
                    .client()
                    .newUntypedWorkflowStub(WorkflowTargetOptions.newBuilder()
                            .setWorkflowId(thread)
                            .setRunId(runId)
                            .build())
                    .terminate("The thread was restored on another server at the same time.");
            throw new WaymarkException.Refused(
                    e.type(),
                    "the thread was restored on another server at the same time: " + thread,
                    "Continue it there; it does not run on this server");
        }
    }
}
