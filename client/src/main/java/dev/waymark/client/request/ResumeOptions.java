package dev.waymark.client.request;

import dev.waymark.client.check.RequestLimits;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.decision.FileCalls;
import dev.waymark.conversation.value.Json;
import dev.waymark.saver.CheckpointOwner;
import dev.waymark.thread.ThreadOwner;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Options for continuing a conversation.
 *
 * @param answer the answer to the first open question; a new message if no question is open
 * @param agent the agent to continue with; by default, the recorded one
 * @param thread the id of the new thread, which then stays open for more turns. Without a thread, the id is derived
 *     from the source, the answer, the agent, the limit and the context, so that resuming twice gives one thread, which
 *     closes as the old one would have
 * @param context the new thread's context for tools; by default, the recorded one
 * @param session the id that idempotency keys are derived from; by default, the checkpoint's
 * @param owner the owner of the new thread; if empty, the owner of the closed thread
 * @param copy whether to ignore the thread that a checkpoint names, and to derive idempotency keys from the new thread
 * @param fileCalls what may happen to the open calls of a checkpoint before somebody decides about each of them. Calls
 *     of a thread that this server knows are not affected.
 * @param origin the origin of a checkpoint, which messages of failures name
 */
public record ResumeOptions(
        Optional<String> answer,
        Optional<String> agent,
        Optional<String> thread,
        Optional<Integer> maxIterations,
        boolean volatileAllowed,
        Optional<Json> context,
        Optional<String> session,
        Optional<ThreadOwner> owner,
        boolean copy,
        FileCalls fileCalls,
        Optional<String> origin) {
    /** Options that only continue the conversation; the other methods add to them. */
    public static ResumeOptions onward() {
        return new ResumeOptions(
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                false,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                false,
                FileCalls.CONTINUE_SAFE,
                Optional.empty());
    }

    /** Answers the first open question, or sends a new message if no question is open. */
    public ResumeOptions withAnswer(String words) {
        return with(edit -> edit.answer = Optional.of(words));
    }

    /** Sets the agent, for a checkpoint that names none, or to continue with another agent. */
    public ResumeOptions withAgent(String name) {
        return with(edit -> edit.agent = Optional.of(name));
    }

    /**
     * Adds the session and the agent that a saver stores next to the checkpoint. An agent that is already set takes
     * precedence.
     */
    public ResumeOptions as(Optional<CheckpointOwner> owner) {
        if (owner.isEmpty()) {
            return this;
        }
        String recorded = owner.get().agent();
        ResumeOptions inSession = withSession(owner.get().session());
        return agent.isPresent() || recorded.isEmpty() ? inSession : inSession.withAgent(recorded);
    }

    /** Sets the id of the new thread. */
    public ResumeOptions withThread(String id) {
        return with(edit -> edit.thread = Optional.of(id));
    }

    /** Sets the maximum number of model calls per turn. */
    public ResumeOptions withMaxIterations(int most) {
        return with(edit -> edit.maxIterations = Optional.of(most));
    }

    /** Accepts that an in-memory server loses the named thread when it stops. */
    public ResumeOptions allowingVolatile() {
        return with(edit -> edit.volatileAllowed = true);
    }

    /** Sets the new thread's context for tools, instead of the recorded one. */
    public ResumeOptions withContext(Json carried) {
        Json checked = StartInput.context(RequestLimits.context(carried));
        return with(edit -> edit.context = Optional.of(checked));
    }

    /** Sets the id that idempotency keys are derived from, instead of the checkpoint's. */
    public ResumeOptions withSession(String id) {
        return with(edit -> edit.session = Optional.of(id));
    }

    /** Sets the owner of the new thread. */
    public ResumeOptions ownedBy(Optional<ThreadOwner> whose) {
        return with(edit -> edit.owner = whose);
    }

    /**
     * Treats the checkpoint as untrusted: does not read the thread that it names, and does not use its idempotency
     * keys. For callers who may not be allowed to see that thread.
     */
    public ResumeOptions asCopy() {
        return with(edit -> edit.copy = true);
    }

    /**
     * Sets what may happen to the open calls of a checkpoint. By default, calls without side effects continue. Others
     * wait for approval in the new thread, because it is unknown who chose their arguments.
     */
    public ResumeOptions withFileCalls(FileCalls allowed) {
        return with(edit -> edit.fileCalls = allowed);
    }

    /** Sets the origin of the checkpoint, such as its file, which messages of failures name. */
    public ResumeOptions withOrigin(String place) {
        return with(edit -> edit.origin = Optional.of(place));
    }

    private ResumeOptions with(Consumer<Edit> change) {
        Edit edit = new Edit();
        change.accept(edit);
        return edit.done();
    }

    private final class Edit {
        private Optional<String> answer = ResumeOptions.this.answer;
        private Optional<String> agent = ResumeOptions.this.agent;
        private Optional<String> thread = ResumeOptions.this.thread;
        private Optional<Integer> maxIterations = ResumeOptions.this.maxIterations;
        private boolean volatileAllowed = ResumeOptions.this.volatileAllowed;
        private Optional<Json> context = ResumeOptions.this.context;
        private Optional<String> session = ResumeOptions.this.session;
        private Optional<ThreadOwner> owner = ResumeOptions.this.owner;
        private boolean copy = ResumeOptions.this.copy;
        private FileCalls fileCalls = ResumeOptions.this.fileCalls;
        private Optional<String> origin = ResumeOptions.this.origin;

        private ResumeOptions done() {
            return new ResumeOptions(
                    answer,
                    agent,
                    thread,
                    maxIterations,
                    volatileAllowed,
                    context,
                    session,
                    owner,
                    copy,
                    fileCalls,
                    origin);
        }
    }
}
