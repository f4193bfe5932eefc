package dev.waymark.contract.work;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.UntrustedWords;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The input of the {@code approval.rules} activity: a call that the agent's rules must judge separately, for example
 * because a person changed its arguments or because it comes from a file.
 *
 * @param owner the subject that owns the thread
 * @param spent what the thread had spent
 * @param requested how often the tool had been requested in the thread, up to and including this call
 * @param grants the grants whose schemas the arguments are compared with
 * @param lastGrant the number of the thread's newest grant
 * @param definition whether to determine the digest of the tool's definition
 * @param judged whether a verdict is recorded, so that only grants and the definition are checked
 * @param untrusted what brought untrusted words into the conversation, if that is known
 */
public record JudgeInput(
        String callId,
        String tool,
        Json args,
        Optional<String> owner,
        Spent spent,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) int requested,

        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<GrantSchema> grants,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) int lastGrant,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean definition,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean judged,

        Optional<UntrustedWords> untrusted)
        implements ActivityInput {
    /** A grant for arguments that match this schema. */
    public record GrantSchema(int number, Json like) {
        public GrantSchema {
            Objects.requireNonNull(like, "like");
        }

        /** The grants of this state that a call of this tool is compared with. */
        public static List<GrantSchema> of(Conversation state, String tool) {
            return state.grants().comparable(tool, state.updatedAt()).stream()
                    .map(grant ->
                            new GrantSchema(grant.number(), grant.terms().like().orElseThrow()))
                    .toList();
        }
    }

    /** The input for a call of this state. */
    public static JudgeInput of(Call call, Conversation state, Optional<String> owner) {
        return new JudgeInput(
                call.id(),
                call.tool(),
                call.args(),
                owner,
                state.spent(),
                state.requests(call),
                GrantSchema.of(state, call.tool()),
                state.grants().last(),
                call.definition().isEmpty(),
                call.verdict().isPresent(),
                state.untrusted());
    }

    public JudgeInput {
        Objects.requireNonNull(callId, "callId");
        Objects.requireNonNull(tool, "tool");
        Objects.requireNonNull(args, "args");
        spent = spent == null ? Spent.NOTHING : spent;
        grants = grants == null ? List.of() : List.copyOf(grants);
    }

    @Override
    public Work.Judge work() {
        return new Work.Judge(callId);
    }
}
