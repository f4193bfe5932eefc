package dev.waymark.conversation;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * One call of a tool, for as long as the thread lives.
 *
 * <p>{@code result} is held only until it is committed to the transcript. {@code since} is when the status began.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record Call(
        @JsonProperty("id") String id,
        @JsonProperty("tool") String tool,
        @JsonProperty("args") Json args,
        @JsonProperty("turn") int turn,
        @JsonProperty("status") Status status,
        @JsonProperty("dispatches") int dispatches,
        @JsonProperty("question") Optional<String> question,
        @JsonProperty("result") Optional<String> result,
        @JsonProperty("since") Instant since) {
    /** Where a call stands. The names are stored. */
    public enum Status {
        @JsonProperty("issued")
        ISSUED(true),
        @JsonProperty("dispatched")
        DISPATCHED(true),
        @JsonProperty("asking")
        ASKING(true),
        @JsonProperty("completed")
        COMPLETED(false),
        @JsonProperty("failed")
        FAILED(false),
        @JsonProperty("cancelled")
        CANCELLED(false);

        private final boolean open;

        Status(boolean open) {
            this.open = open;
        }
    }

    @JsonCreator
    public Call {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(tool, "tool");
        Objects.requireNonNull(args, "args");
        Objects.requireNonNull(status, "status");
        Objects.requireNonNull(since, "since");
        question = question == null ? Optional.empty() : question;
        result = result == null ? Optional.empty() : result;
    }

    static Call issued(Part.ToolUse use, int turn, Instant at) {
        return new Call(
                use.id(), use.name(), use.input(), turn, Status.ISSUED, 0, Optional.empty(), Optional.empty(), at);
    }

    Call dispatched(int dispatch, Instant at) {
        return new Call(id, tool, args, turn, Status.DISPATCHED, dispatch, question, result, at);
    }

    Call asking(String words, Instant at) {
        return new Call(id, tool, args, turn, Status.ASKING, dispatches, Optional.of(words), result, at);
    }

    Call ended(Status how, String text, Instant at) {
        return new Call(id, tool, args, turn, how, dispatches, question, Optional.of(text), at);
    }

    Call committed() {
        return new Call(id, tool, args, turn, status, dispatches, question, Optional.empty(), since);
    }

    /** All that a forgotten conversation leaves of a call: that there was one, and how it ended. */
    Call forgotten() {
        return new Call(
                id,
                tool,
                Json.EMPTY_OBJECT,
                turn,
                status,
                dispatches,
                question.map(words -> ""),
                Optional.empty(),
                since);
    }

    /** It still lacks its one result. */
    @JsonIgnore
    public boolean isOpen() {
        return status.open;
    }

    /** Whether these calls are all that a turn waits for, and every one of them waits for a person. */
    static boolean onlyAsk(List<Call> open) {
        return !open.isEmpty() && open.stream().allMatch(call -> call.status == Status.ASKING);
    }

    /** The result as the model sees it, if there is one that the transcript does not hold yet. */
    @JsonIgnore
    public Optional<Part.ToolResult> toolResult() {
        return result.map(text -> new Part.ToolResult(id, text, status != Status.COMPLETED));
    }
}
