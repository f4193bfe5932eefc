package dev.waymark.saver;

import dev.waymark.conversation.value.Json;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Which thread an entry of a saver belongs to, and what a checkpoint has no place for but a restored thread needs.
 *
 * <p>A thread that is restored on another server takes the entry over, with the next epoch. The earlier thread may still
 * be alive: what it saves afterwards is refused, so that it can't replace the work of its successor.
 *
 * @param run the first run of the thread; a reset or a continue-as-new does not change it
 * @param agent whose thread it is, or empty while nobody knows
 * @param session the id from which the idempotency keys of its calls are made
 * @param epoch 1 for the thread that saved the entry first, one more for each thread that took it over
 */
public record CheckpointOwner(String run, String agent, String session, int epoch) {
    /** A thread that has not saved anything yet. */
    public static CheckpointOwner first(String run, String agent, String session) {
        return new CheckpointOwner(run, agent, session, 1);
    }

    /** The next owner of the same entry. */
    public CheckpointOwner succeededBy(String nextRun, String nextAgent) {
        return new CheckpointOwner(nextRun, nextAgent, session, epoch + 1);
    }

    /**
     * The owner to store together with a document that this owner saves.
     *
     * @throws SaverException with type {@code CheckpointSuperseded} when the entry belongs to another thread
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
        throw SaverException.corrupt(place, "it does not say whose the checkpoint is");
    }
}
