package dev.waymark.conversation.state;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Usage;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A turn, from a message to its outcome. A thread without a turn has number 0.
 *
 * @param schema the JSON Schema for the final reply
 * @param repaired whether the model has used its one chance to correct a mismatched final reply
 * @param structured the final reply as JSON, if it matches the schema
 * @param text the final reply; while the turn runs, the text of cut replies so far
 * @param continuations how often the model was asked to continue a reply that was cut
 */
public record Turn(
        int number,
        Status status,
        int iterations,
        Usage usage,
        String text,
        Optional<Problem> problem,
        Instant startedAt,
        Optional<Json> schema,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean repaired,

        Optional<Json> structured,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) int continuations) {
    /** The status of a turn. The names are stored and shown to users. */
    public enum Status {
        @JsonProperty("none")
        NONE("none"),
        @JsonProperty("running")
        RUNNING("running"),
        @JsonProperty("complete")
        COMPLETE("complete"),
        /** The reply is incomplete: it was cut at its limit, or has no text. */
        @JsonProperty("cut")
        CUT("cut"),
        @JsonProperty("failed")
        FAILED("failed"),
        @JsonProperty("max-iterations")
        MAX_ITERATIONS("max-iterations"),
        /** The thread has used up its budget. */
        @JsonProperty("budget")
        BUDGET("budget"),
        @JsonProperty("stopped")
        STOPPED("stopped"),
        @JsonProperty("cancelled")
        CANCELLED("cancelled");

        private final String wireName;

        Status(String wireName) {
            this.wireName = wireName;
        }

        public String wireName() {
            return wireName;
        }
    }

    public Turn {
        Objects.requireNonNull(status, "status");
        Objects.requireNonNull(usage, "usage");
        Objects.requireNonNull(text, "text");
        Objects.requireNonNull(startedAt, "startedAt");
    }

    public Turn(
            int number,
            Status status,
            int iterations,
            Usage usage,
            String text,
            Optional<Problem> problem,
            Instant startedAt) {
        this(number, status, iterations, usage, text, problem, startedAt, Optional.empty(), false, Optional.empty(), 0);
    }

    public static Turn none(Instant at) {
        return new Turn(0, Status.NONE, 0, Usage.NONE, "", Optional.empty(), at);
    }

    public Turn next(Instant at) {
        return new Turn(number + 1, Status.RUNNING, 0, Usage.NONE, "", Optional.empty(), at);
    }

    public Turn iterated() {
        return but(edit -> edit.iterations++);
    }

    /** Takes back a model call that got no reply, because it will be repeated. */
    public Turn withoutLastIteration() {
        return but(edit -> edit.iterations--);
    }

    public Turn used(Usage more) {
        return but(edit -> edit.usage = usage.plus(more));
    }

    /** Adds usage if this is the turn with that number. The turn may have ended. */
    public Turn usedMore(int turn, Usage more) {
        return turn == number ? used(more) : this;
    }

    public Turn ended(Status how, String words, Optional<Problem> why) {
        return but(edit -> {
            edit.status = how;
            edit.text = words;
            edit.problem = why;
        });
    }

    public Turn continued() {
        return ended(Status.RUNNING, "", Optional.empty()).but(edit -> edit.repaired = false);
    }

    public Turn withSchema(Json lastWord) {
        return but(edit -> {
            edit.schema = Optional.of(lastWord);
            edit.repaired = false;
        });
    }

    /** A copy whose reply begins with these words, which the model wrote in an earlier turn. */
    public Turn after(String words) {
        return words.isEmpty() ? this : but(edit -> edit.text = words + text);
    }

    /** A copy in which the model is asked to continue a reply that was cut after these words. */
    public Turn continuedAfter(String words) {
        return but(edit -> {
            edit.text = text + words;
            edit.continuations++;
        });
    }

    public Turn repairing() {
        return but(edit -> edit.repaired = true);
    }

    public Turn structured(Optional<Json> lastWord) {
        return but(edit -> edit.structured = lastWord);
    }

    private Turn but(Consumer<Edit> change) {
        Edit edit = new Edit();
        change.accept(edit);
        return edit.done();
    }

    private final class Edit {
        private Status status = Turn.this.status;
        private int iterations = Turn.this.iterations;
        private Usage usage = Turn.this.usage;
        private String text = Turn.this.text;
        private Optional<Problem> problem = Turn.this.problem;
        private Optional<Json> schema = Turn.this.schema;
        private boolean repaired = Turn.this.repaired;
        private Optional<Json> structured = Turn.this.structured;
        private int continuations = Turn.this.continuations;

        Turn done() {
            return new Turn(
                    number,
                    status,
                    iterations,
                    usage,
                    text,
                    problem,
                    startedAt,
                    schema,
                    repaired,
                    structured,
                    continuations);
        }
    }

    public boolean endedOnLimit() {
        return status == Status.MAX_ITERATIONS || status == Status.BUDGET;
    }

    /** Whether the turn ended before a complete final reply. */
    public boolean canContinue() {
        return switch (status) {
            case CUT, FAILED, STOPPED, CANCELLED, MAX_ITERATIONS, BUDGET -> true;
            case NONE, RUNNING, COMPLETE -> false;
        };
    }

    @JsonIgnore
    public boolean isRunning() {
        return status == Status.RUNNING;
    }
}
