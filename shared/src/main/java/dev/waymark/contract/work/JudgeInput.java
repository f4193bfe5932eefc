package dev.waymark.contract.work;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Spent;
import java.util.Objects;
import java.util.Optional;

/**
 * The input of the {@code approval.rules} activity: a call about which the agent's rules are asked, because a person changed its
 * arguments or because it comes from elsewhere.
 *
 * @param owner the subject that owns the thread
 * @param spent what the thread had spent
 * @param requested how often the tool had been requested in the thread, up to and including this call
 */
public record JudgeInput(
        String callId,
        String tool,
        Json args,
        Optional<String> owner,
        Spent spent,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) int requested)
        implements ActivityInput {
    public JudgeInput {
        Objects.requireNonNull(callId, "callId");
        Objects.requireNonNull(tool, "tool");
        Objects.requireNonNull(args, "args");
        spent = spent == null ? Spent.NOTHING : spent;
    }

    @Override
    public Work.Judge work() {
        return new Work.Judge(callId);
    }
}
