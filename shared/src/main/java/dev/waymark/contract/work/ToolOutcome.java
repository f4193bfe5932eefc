package dev.waymark.contract.work;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.call.Suspension;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * The result of a tool's activity. For every kind of tool, it is one of:
 *
 * <ul>
 *   <li>{@link #result}: done. The model sees the result.
 *   <li>{@link #question}: done. The answer of a person becomes the result.
 *   <li>{@link #notDone}: an error that the model sees, with proof that nothing took effect.
 *   <li>{@link #error}: an error reported by the tool itself, which the model sees. It proves nothing about the effect.
 *   <li>{@link #unknown}: it is unknown whether the tool took effect.
 *   <li>{@link #suspended}: the tool's server has started the call but not finished it.
 *   <li>{@link #notStarted}: this execution did not run. The model is not told, and the call is dispatched again.
 * </ul>
 *
 * @param notDone whether the error proves that nothing took effect
 * @param unknown what was observed of an execution with an unknown outcome
 */
public record ToolOutcome(
        Optional<String> result,
        Optional<String> error,
        Optional<String> question,
        Optional<NotStarted> notStarted,
        @JsonProperty("lost") Optional<String> unknown,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean notDone,

        Optional<Suspension> suspended) {

    /**
     * The tool did not run in this execution, and will not run in it later.
     *
     * @param definition the digest of the tool's definition, if it is not the one that was approved
     */
    public record NotStarted(String execution, String reason, Optional<String> definition) {
        public NotStarted {
            Objects.requireNonNull(execution, "execution");
            reason = reason == null ? "" : reason;
        }
    }

    private static ToolOutcome of(Consumer<Edit> parts) {
        Edit edit = new Edit();
        parts.accept(edit);
        return new ToolOutcome(
                edit.result, edit.error, edit.question, edit.notStarted, edit.unknown, edit.notDone, edit.suspended);
    }

    /** The mutable parts of an outcome. */
    private static final class Edit {
        private Optional<String> result = Optional.empty();
        private Optional<String> error = Optional.empty();
        private Optional<String> question = Optional.empty();
        private Optional<NotStarted> notStarted = Optional.empty();
        private Optional<String> unknown = Optional.empty();
        private boolean notDone;
        private Optional<Suspension> suspended = Optional.empty();
    }

    public static ToolOutcome result(String text) {
        return of(edit -> edit.result = Optional.of(text));
    }

    /** @param text the whole text that the model sees, including {@code Tool error: …} */
    public static ToolOutcome error(String text) {
        return failed(text, false);
    }

    /** The error of an execution that had no effect, in the form that the model sees. */
    public static ToolOutcome notDone(String text) {
        return failed(text, true);
    }

    private static ToolOutcome failed(String text, boolean notDone) {
        return of(edit -> {
            edit.error = Optional.of(text);
            edit.notDone = notDone;
        });
    }

    public static ToolOutcome question(String words) {
        return of(edit -> edit.question = Optional.of(words));
    }

    /** @param execution the claim name of this execution */
    public static ToolOutcome notStarted(String execution, String reason) {
        return notStarted(new NotStarted(execution, reason, Optional.empty()));
    }

    /**
     * The tool did not run, because its definition is not the one that was approved.
     *
     * @param execution the claim name of this execution
     * @param definition the digest of the current definition
     */
    public static ToolOutcome changed(String execution, String definition) {
        return notStarted(
                new NotStarted(execution, "its definition is not the one that was approved", Optional.of(definition)));
    }

    private static ToolOutcome notStarted(NotStarted why) {
        return of(edit -> edit.notStarted = Optional.of(why));
    }

    /**
     * The tool ran, and its outcome is unknown.
     *
     * @param seen a few words for people and the model, such as {@code HTTP 504} or {@code killed by signal 9}
     */
    public static ToolOutcome unknown(String seen) {
        return of(edit -> edit.unknown = Optional.of(seen));
    }

    public static ToolOutcome suspended(Suspension how) {
        return of(edit -> edit.suspended = Optional.of(how));
    }

    /** This outcome for a tool that is safe to retry: an unknown outcome becomes an ordinary error. */
    public ToolOutcome ofSafeTool() {
        return unknown.map(seen -> error(ToolTexts.failure(seen))).orElse(this);
    }

    /** A copy in which the change is applied to all texts that a tool may have influenced. */
    public ToolOutcome withTexts(UnaryOperator<String> change) {
        return new ToolOutcome(
                result.map(change),
                error.map(change),
                question.map(change),
                notStarted.map(why -> new NotStarted(why.execution(), change.apply(why.reason()), why.definition())),
                unknown.map(change),
                notDone,
                suspended.map(how -> how.withTexts(change)));
    }

    public Fact toFact(String callId, int dispatch) {
        if (question.isPresent()) {
            return new ToolFact.ToolInterrupted(callId, dispatch, question.get());
        }
        if (suspended.isPresent()) {
            return new ToolFact.ToolSuspended(callId, dispatch, suspended.get());
        }
        if (notStarted.isPresent()) {
            NotStarted why = notStarted.get();
            return new ToolFact.ToolNotStarted(callId, dispatch, why.execution(), why.reason(), why.definition());
        }
        if (unknown.isPresent()) {
            return new ToolFact.ToolLost(callId, dispatch, new Problem(ProblemType.OUTCOME_UNKNOWN, unknown.get()));
        }
        return new ToolFact.ToolFinished(
                callId, dispatch, error.or(() -> result).orElse(""), error.isPresent(), error.isPresent() && notDone);
    }
}
