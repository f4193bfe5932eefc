package dev.waymark.client;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.StartInput;
import dev.waymark.contract.ThreadOwner;
import dev.waymark.conversation.value.Json;
import dev.waymark.saver.CheckpointOwner;
import java.util.Optional;

/**
 * How to go on from where a conversation was left.
 *
 * @param answer to the first open question; a new message where none is open
 * @param agent who goes on, if not the agent that is recorded
 * @param thread the id of the new thread, which then stays open for more turns. Without one it is made of what is
 *     resumed and of all other options, so that the same resumed twice is one thread, which closes as the old one would
 *     have
 * @param context what the new thread carries for its tools, if not what is recorded
 * @param session the id from which idempotency keys are made, if not the one that a checkpoint names
 * @param owner whose thread the new one is; without one, whose the closed one was
 * @param copy whether the thread that a checkpoint names is not looked at, and idempotency keys are the new thread's own
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
        boolean copy) {
    /** From where it was left, and nothing else. */
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
                false);
    }

    public ResumeOptions withAnswer(String words) {
        return new ResumeOptions(
                Optional.of(words), agent, thread, maxIterations, volatileAllowed, context, session, owner, copy);
    }

    public ResumeOptions withAgent(String name) {
        return new ResumeOptions(
                answer, Optional.of(name), thread, maxIterations, volatileAllowed, context, session, owner, copy);
    }

    /** With what a saver knows of the thread beside its checkpoint, unless another agent is named. */
    public ResumeOptions as(Optional<CheckpointOwner> owner) {
        if (owner.isEmpty()) {
            return this;
        }
        String recorded = owner.get().agent();
        ResumeOptions inSession = withSession(owner.get().session());
        return agent.isPresent() || recorded.isEmpty() ? inSession : inSession.withAgent(recorded);
    }

    public ResumeOptions withThread(String id) {
        return new ResumeOptions(
                answer, agent, Optional.of(id), maxIterations, volatileAllowed, context, session, owner, copy);
    }

    public ResumeOptions withMaxIterations(int most) {
        return new ResumeOptions(
                answer, agent, thread, Optional.of(most), volatileAllowed, context, session, owner, copy);
    }

    /** Lets a thread with a name live on a server that keeps everything in memory. */
    public ResumeOptions allowingVolatile() {
        return new ResumeOptions(answer, agent, thread, maxIterations, true, context, session, owner, copy);
    }

    /** What the new thread carries for its tools, instead of what is recorded. */
    public ResumeOptions withContext(JsonNode carried) {
        Json checked = StartInput.context(RequestLimits.context(carried));
        return new ResumeOptions(
                answer, agent, thread, maxIterations, volatileAllowed, Optional.of(checked), session, owner, copy);
    }

    /** The id from which the idempotency keys of its calls are made, where that is known better than from a checkpoint. */
    public ResumeOptions withSession(String id) {
        return new ResumeOptions(
                answer, agent, thread, maxIterations, volatileAllowed, context, Optional.of(id), owner, copy);
    }

    public ResumeOptions ownedBy(Optional<ThreadOwner> whose) {
        return new ResumeOptions(answer, agent, thread, maxIterations, volatileAllowed, context, session, whose, copy);
    }

    /**
     * Takes a checkpoint from somebody who need not be allowed to see the thread that it names: nothing is found out about
     * that thread, and none of its idempotency keys is used.
     */
    public ResumeOptions asCopy() {
        return new ResumeOptions(answer, agent, thread, maxIterations, volatileAllowed, context, session, owner, true);
    }
}
