package dev.waymark.contract.work;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.conversation.call.Suspension;
import java.util.Optional;

/**
 * The input of the activity that follows or cancels the task of a call's server.
 *
 * @param suspension the task to follow, and the answers that the server waits for
 * @param cancel the server's id of the task to cancel; empty to follow the task
 */
public record TaskInput(
        String callId,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) int dispatch,

        String tool,
        Optional<Suspension> suspension,
        Optional<String> cancel)
        implements ActivityInput {

    public static TaskInput following(String callId, int dispatch, String tool, Suspension suspension) {
        return new TaskInput(callId, dispatch, tool, Optional.of(suspension.forDelivery()), Optional.empty());
    }

    public static TaskInput cancelling(String callId, String tool, String task) {
        return new TaskInput(callId, 0, tool, Optional.empty(), Optional.of(task));
    }

    @Override
    public Work<ToolOutcome> work() {
        return cancel.isPresent() ? new Work.CancelTask(callId) : new Work.FollowTask(callId, dispatch);
    }
}
