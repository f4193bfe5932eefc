package dev.waymark.workflow;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.thread.StatusReport;
import dev.waymark.tool.RecordSchema;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The state of a turn that a workflow waited for.
 *
 * @param status {@code complete}, {@code interrupted} if only people can continue the turn, or how it ended otherwise:
 *     {@code failed}, {@code stopped}, {@code cancelled}, {@code terminated}, {@code budget}, {@code max-iterations},
 *     {@code cut}, {@code timed-out}
 * @param text the final reply, or what is there of it
 * @param error why the turn is not complete, if there is a reason
 * @param pending what waits for people, if the turn is interrupted
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record AgentOutcome(String status, String text, Optional<Problem> error, List<PendingItem> pending) {
    public AgentOutcome(
            @Nullable String status,
            @Nullable String text,
            @Nullable Optional<Problem> error,
            @Nullable List<PendingItem> pending) {
        this.status = status == null ? "" : status;
        this.text = text == null ? "" : text;
        this.error = error == null ? Optional.empty() : error;
        this.pending = pending == null ? List.of() : List.copyOf(pending);
    }

    /** Whether the agent has given its final reply. */
    @JsonIgnore
    public boolean isComplete() {
        return status.equals(Turn.Status.COMPLETE.wireName());
    }

    /** Whether only people can continue the turn. */
    @JsonIgnore
    public boolean isInterrupted() {
        return status.equals(StatusReport.INTERRUPTED);
    }

    /**
     * The reply as a record, if the task has its schema.
     *
     * @throws IllegalArgumentException if the reply is no such record; the message names the component
     */
    public <T extends Record> T structured(Class<T> type) {
        try {
            return RecordSchema.read(Json.of(PayloadJson.MAPPER.readValue(text, Object.class)), type);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("the reply is not JSON: " + e.getOriginalMessage(), e);
        }
    }
}
