package dev.waymark.checkpoint;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.value.Json;
import java.util.Optional;

/**
 * A conversation read from a checkpoint.
 *
 * @param document the checkpoint itself
 * @param thread the id of the thread or session that the checkpoint names
 */
public record RestoredCheckpoint(CheckpointFormat format, Json document, Conversation state, Optional<String> thread) {
    /** @throws CheckpointCorruption if more calls are open than a thread can have */
    public RestoredCheckpoint {
        int open = state.openCalls().size();
        if (open > Conversation.MAX_CALLS) {
            throw CheckpointCorruption.at(
                    "", open + " calls are open, but a reply may have at most " + Conversation.MAX_CALLS);
        }
    }
}
