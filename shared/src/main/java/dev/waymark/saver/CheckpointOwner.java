package dev.waymark.saver;

import dev.waymark.conversation.value.Json;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The thread that a saver's entry belongs to, with data that a restored thread needs and a checkpoint does not have.
 *
 * <p>A thread that is restored on another server takes over the entry, with the next epoch. If the earlier thread is
 * still alive, its later saves are refused, so that it cannot replace the checkpoints of its successor.
 *
 * @param run the id of the first run of the thread; it does not change with a reset or continue-as-new
 * @param agent the thread's agent; empty until it is known
 * @param session the id that the idempotency keys of the thread's calls are derived from
 * @param epoch 1 for the thread that created the entry, incremented by each thread that takes it over
 */
public record CheckpointOwner(String run, String agent, String session, int epoch) {
    /** The owner for a thread that has not saved anything yet. */
    public static CheckpointOwner first(String run, String agent, String session) {
        return new CheckpointOwner(run, agent, session, 1);
    }

    /** The next owner of the same entry. */
    public CheckpointOwner succeededBy(String nextRun, String nextAgent) {
        return new CheckpointOwner(nextRun, nextAgent, session, epoch + 1);
    }

    /**
     * The owner to store with a document that this owner saves.
     *
     * @throws SaverException with type {@code CheckpointSuperseded} if the entry belongs to another thread
     */
    CheckpointOwner replacing(Optional<CheckpointOwner> stored, String threadId) {
        if (stored.isEmpty()) {
            return this;
        }
        if (!stored.get().run.equals(run)) {
            throw SaverException.superseded(threadId, stored.get().epoch);
        }
        String known = agent.isEmpty() ? stored.get().agent : agent;
        return new CheckpointOwner(run, known, session, stored.get().epoch);
    }

    /**
     * Checks that this owner may take the entry over.
     *
     * @throws SaverException with type {@code CheckpointSuperseded} if another thread has taken it over in the meantime
     */
    void checkSuccession(Optional<CheckpointOwner> stored, String threadId) {
        boolean isNext = stored.isEmpty() || stored.get().equals(this) || epoch == stored.get().epoch + 1;
        if (!isNext) {
            throw SaverException.superseded(threadId, stored.get().epoch);
        }
    }

    Json json(String threadId) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("threadId", threadId);
        fields.put("run", run);
        fields.put("agent", agent);
        fields.put("session", session);
        fields.put("epoch", epoch);
        return Json.of(fields);
    }

    static CheckpointOwner read(String text, String threadId, String place) {
        Json fields = CheckpointText.read(text, threadId, place);
        if (fields.field("run") instanceof String run
                && fields.field("agent") instanceof String agent
                && fields.field("session") instanceof String session
                && fields.field("epoch") instanceof Number epoch) {
            return new CheckpointOwner(run, agent, session, epoch.intValue());
        }
        throw SaverException.corrupt(place, "it does not name the owner");
    }
}
