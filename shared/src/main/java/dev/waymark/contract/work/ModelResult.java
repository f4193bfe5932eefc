package dev.waymark.contract.work;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.message.Reply;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The result of the {@code model} activity: the reply, and the outcomes of its calls that the activity ran, in the
 * model's order. Without outcomes, it is stored like a reply alone.
 *
 * <p>A call of the reply without an outcome here did not run, or its outcome is discarded. It is dispatched like any
 * other call.
 */
public record ModelResult(
        @JsonUnwrapped Reply reply,
        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Ran> ran) {
    public ModelResult {
        Objects.requireNonNull(reply, "reply");
        ran = ran == null ? List.of() : List.copyOf(ran);
    }

    /** A reply without outcomes of its calls. */
    public static ModelResult of(Reply reply) {
        return new ModelResult(reply, List.of());
    }

    /** How long the call took that this fact ends; empty if the fact ends none of these calls. */
    public Optional<Duration> took(Fact fact) {
        return ran.stream()
                .filter(each -> each.work().completed(each.outcome()).equals(fact))
                .map(each -> Duration.ofMillis(each.millis()))
                .findFirst();
    }

    /**
     * The outcome of a call's first dispatch.
     *
     * @param millis how long the call took; only for display, no rule depends on it
     */
    public record Ran(
            String callId,
            ToolOutcome outcome,

            @JsonInclude(JsonInclude.Include.NON_DEFAULT) int millis) {
        public Ran(String callId, ToolOutcome outcome) {
            this(callId, outcome, 0);
        }

        Work.Tool work() {
            return new Work.Tool(callId, 1);
        }
    }
}
