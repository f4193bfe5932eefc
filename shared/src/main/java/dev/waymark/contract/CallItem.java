package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.Call;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Json;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** A row of the tool-call log. */
@JsonIgnoreProperties(ignoreUnknown = true)
public record CallItem(
        @JsonProperty("callId") String callId,
        @JsonProperty("tool") String tool,
        @JsonProperty("args") Json args,
        @JsonProperty("dispatches") int dispatches,
        @JsonProperty("status") String status) {
    @JsonCreator
    public CallItem {}

    /** The newest calls of a thread, oldest of them first. */
    public static List<CallItem> of(Conversation state, int most) {
        List<Call> calls = new ArrayList<>();
        state.calls().forEach((id, call) -> calls.add(call));
        calls.sort(Comparator.comparing(Call::since));
        return calls.subList(Math.max(0, calls.size() - most), calls.size()).stream()
                .map(call ->
                        new CallItem(call.id(), call.tool(), call.args(), call.dispatches(), statusName(call.status())))
                .toList();
    }

    private static String statusName(Call.Status status) {
        return switch (status) {
            case ISSUED, HELD, AWAITING, DISPATCHED, ASKING -> "issued";
            case CLAIMED, UNKNOWN, DOUBTED, VERIFYING, UNSETTLED -> "claimed";
            case COMPLETED -> "completed";
            case FAILED -> "failed";
            case DENIED -> "denied";
            case CANCELLED -> "cancelled";
            case LOST -> "lost";
        };
    }

    /** The same, with arguments that are longer than this as JSON replaced by their length. */
    public CallItem shortened(int most) {
        return new CallItem(callId, tool, PendingItem.shortened(args, most), dispatches, status);
    }
}
