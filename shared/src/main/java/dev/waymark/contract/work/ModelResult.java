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
 * <p>A call of the reply that has no outcome here did not run, or what became of it does not count: it is dispatched as
 * if the activity had not run any.
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

    /** How long the call took whose end this fact is; empty if it is not the end of one of these calls. */
    public Optional<Duration> took(Fact fact) {
        return ran.stream()
                .filter(each -> each.work().completed(each.outcome()).equals(fact))
                .map(each -> Duration.ofMillis(each.millis()))
                .findFirst();
    }

    /**
     * The outcome of a call's first dispatch.
     *
     * @param millis the time that the call took. No rule depends on it: it is for display.
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
