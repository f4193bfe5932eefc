package dev.waymark.conversation.message;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A model's reply. It is the result of the {@code model} activity, so fields are only ever added.
 *
 * <p>{@code stop} is the reason why the reply ended, in the provider's words. The usual values, {@code end_turn}, and
 * {@code tool_use} for a reply with calls, are omitted to save space in history.
 *
 * <p>{@code faults} are the calls whose arguments do not match their tool's schema. They are determined before the
 * reply is recorded, so that nobody has to approve a call that cannot run.
 *
 * <p>{@code cost} is the price of {@code usage}, if known, and {@code wasted} the spending of earlier, failed attempts.
 *
 * <p>If the final reply must match a schema, {@code structured} is its parsed value, or {@code misfit} says why it does
 * not match.
 *
 * <p>{@code model} is the fallback that answered, as {@code provider:model}; empty if the agent's own model did.
 *
 * <p>{@code verdicts} are the verdicts of the agent's rules about the calls of tools with rules. They are determined
 * before the reply is recorded, when the agent is known.
 *
 * <p>{@code withoutReasoning} says that the service refused to read the earlier reasoning of this model, so that the
 * reply was made without it.
 *
 * <p>{@code seal} is a digest of the final reply, with which {@code verify} detects that a stored history was altered.
 */
public record Reply(
        List<Part> content,
        Usage usage,

        @JsonInclude(value = JsonInclude.Include.CUSTOM, valueFilter = Reply.Usual.class)
        String stop,

        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Fault> faults,

        Optional<Usd> cost,

        Optional<Spent> wasted,

        Optional<String> misfit,

        Optional<Json> structured,

        Optional<String> seal,

        Optional<String> model,

        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Judged> verdicts,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean withoutReasoning) {
    private static final int SEAL_DIGITS = 16;

    private static final String END_TURN = "end_turn";
    private static final String TOOL_USE = "tool_use";
    private static final String MAX_TOKENS = "max_tokens";
    private static final String PAUSED = "pause_turn";

    public Reply {
        content = List.copyOf(content);
        usage = usage == null ? Usage.NONE : usage;
        boolean calls = content.stream().anyMatch(Part.ToolUse.class::isInstance);
        if (stop == null || stop.equals(END_TURN) || stop.equals(TOOL_USE)) {
            stop = calls ? TOOL_USE : END_TURN;
        }
        faults = faults == null ? List.of() : List.copyOf(faults);
        verdicts = verdicts == null ? List.of() : List.copyOf(verdicts);
    }

    /** A reply of the agent's own model, not sealed yet. */
    public Reply(
            List<Part> content,
            Usage usage,
            String stop,
            List<Fault> faults,
            Optional<Usd> cost,
            Optional<Spent> wasted,
            Optional<String> misfit,
            Optional<Json> structured) {
        this(
                content,
                usage,
                stop,
                faults,
                cost,
                wasted,
                misfit,
                structured,
                Optional.empty(),
                Optional.empty(),
                List.of(),
                false);
    }

    public Reply(List<Part> content, Usage usage, String stop) {
        this(content, usage, stop, List.of(), Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
    }

    /** A reply with the usual stop reason, without token usage. */
    public static Reply of(Part... content) {
        return new Reply(List.of(content), Usage.NONE, END_TURN);
    }

    /** Returns a copy with other content. */
    public Reply withContent(List<Part> parts) {
        return unsealed(edit -> edit.content = parts);
    }

    /** Returns a copy with the calls whose arguments are invalid. */
    public Reply withFaults(List<Fault> found) {
        return unsealed(edit -> edit.faults = found);
    }

    /** Returns a copy with the verdicts of the agent's rules about the calls. */
    public Reply withVerdicts(List<Judged> found) {
        return with(edit -> edit.verdicts = found);
    }

    /** Returns a copy that says why the reply does not match the requested schema. */
    public Reply withMisfit(String reason) {
        return unsealed(edit -> {
            edit.misfit = Optional.of(reason);
            edit.structured = Optional.empty();
        });
    }

    /** Returns a copy with the reply as JSON that matches the requested schema. */
    public Reply withStructured(Json value) {
        return unsealed(edit -> {
            edit.misfit = Optional.empty();
            edit.structured = Optional.of(value);
        });
    }

    /** Returns a copy with the reply's cost and the spending of earlier, failed attempts. */
    public Reply charged(Optional<Usd> price, Spent before) {
        return unsealed(edit -> {
            edit.cost = price;
            edit.wasted = before.isNothing() ? Optional.empty() : Optional.of(before);
        });
    }

    /** Returns a copy that names the fallback that answered. */
    public Reply answeredBy(String other) {
        return unsealed(edit -> edit.model = Optional.of(other));
    }

    /** The reply as a message of the conversation. */
    public Message message() {
        return new Message(Role.ASSISTANT, content);
    }

    /** Returns a copy that says that earlier reasoning could not be sent. */
    public Reply refusingReasoning() {
        return unsealed(edit -> edit.withoutReasoning = true);
    }

    /**
     * Returns a copy with a digest of its own content, if it is the final reply of its turn. Other replies are returned
     * unchanged: the next model call of the turn records a digest of the conversation.
     */
    public Reply sealed() {
        return isLastWord() ? with(edit -> edit.seal = Optional.of(ownSeal())) : this;
    }

    private Reply unsealed(Consumer<Edit> changes) {
        return with(edit -> {
            changes.accept(edit);
            edit.seal = Optional.empty();
        });
    }

    private Reply with(Consumer<Edit> changes) {
        Edit edit = new Edit();
        changes.accept(edit);
        return edit.done();
    }

    /** Whether the content matches the seal. A reply without a seal always matches. */
    @JsonIgnore
    public boolean isAsSealed() {
        return seal.isEmpty() || seal.get().equals(ownSeal());
    }

    /** Whether the reply reached its token limit, or was paused too often, before it was complete. */
    @JsonIgnore
    public boolean isCut() {
        return stop.equals(MAX_TOKENS) || stop.equals(PAUSED);
    }

    /** Whether the reply has no calls, so that it ends its turn. */
    @JsonIgnore
    public boolean isLastWord() {
        return calls().isEmpty();
    }

    /** The calls, in the model's order. */
    public List<Part.ToolUse> calls() {
        return content.stream()
                .filter(Part.ToolUse.class::isInstance)
                .map(Part.ToolUse.class::cast)
                .toList();
    }

    /** Why the arguments of the call with this number are invalid, if they are. */
    public Optional<String> faultOf(int call) {
        return faults.stream()
                .filter(fault -> fault.call() == call)
                .map(Fault::reason)
                .findFirst();
    }

    /** The verdict of the agent's rules about the call with this number, if they were asked. */
    public Optional<CallVerdict> verdictOf(int call) {
        return verdicts.stream()
                .filter(judged -> judged.call() == call)
                .map(Judged::verdict)
                .findFirst();
    }

    private String ownSeal() {
        String words = new Message(Role.ASSISTANT, content).canonical();
        return Sha256.hex(words + structured.map(json -> json.canonical()).orElse(""))
                .substring(0, SEAL_DIGITS);
    }

    /** The spending of the reply and of the failed attempts before it. */
    public Spent spent() {
        return new Spent(usage, cost).plus(wasted.orElse(Spent.NOTHING));
    }

    /**
     * A verdict of the agent's rules about a call. {@code call} is the number of the call in the reply, counted from 0.
     */
    public record Judged(int call, CallVerdict verdict) {
        public Judged {
            Objects.requireNonNull(verdict, "verdict");
        }
    }

    /** An error in the arguments of a call. {@code call} is the number of the call in the reply, counted from 0. */
    public record Fault(int call, String reason) {
        public Fault {
            reason = reason == null ? "" : reason;
        }
    }

    /** A Jackson filter that omits the usual stop reasons. Jackson compares values with this object. */
    static final class Usual {
        @Override
        public boolean equals(@Nullable Object value) {
            return END_TURN.equals(value) || TOOL_USE.equals(value);
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }

    private final class Edit {
        private List<Part> content = Reply.this.content;
        private List<Fault> faults = Reply.this.faults;
        private Optional<Usd> cost = Reply.this.cost;
        private Optional<Spent> wasted = Reply.this.wasted;
        private Optional<String> misfit = Reply.this.misfit;
        private Optional<Json> structured = Reply.this.structured;
        private Optional<String> seal = Reply.this.seal;
        private Optional<String> model = Reply.this.model;
        private List<Judged> verdicts = Reply.this.verdicts;
        private boolean withoutReasoning = Reply.this.withoutReasoning;

        Reply done() {
            return new Reply(
                    content,
                    usage,
                    stop,
                    faults,
                    cost,
                    wasted,
                    misfit,
                    structured,
                    seal,
                    model,
                    verdicts,
                    withoutReasoning);
        }
    }
}
