package dev.waymark.checkpoint;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.value.Json;
import dev.waymark.timeline.CheckpointFormat;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
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

    /** The calls of the transcript that have no result and may have run, so that their outcome is unknown. */
    public List<Call> mayHaveRun() {
        List<Call> found = new ArrayList<>();
        state.calls().forEach((id, call) -> {
            boolean isOverElsewhere = call.status() == Call.Status.LOST
                    && call.claim().filter(Call.Claim::isElsewhere).isPresent();
            if ((call.isOpen() && call.wasBegun()) || isOverElsewhere) {
                found.add(call);
            }
        });
        return Collections.unmodifiableList(found);
    }

    /** The calls that the checkpoint's tool-call log shows as started, without an outcome, and its transcript lacks. */
    public List<Call> aheadOfTranscript() {
        return state.startedElsewhere();
    }
}
