package dev.waymark.contract.work;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.conversation.value.Json;
import java.util.Optional;

/**
 * The input of the {@code verify} activity: the lost call to check.
 *
 * @param token the fencing token of the lost execution; 0 if its claim is not known
 */
public record VerifyInput(
        String callId,
        int dispatch,
        String tool,
        Json args,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) int repeat,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) long token,

        Optional<String> session)
        implements ActivityInput {

    @Override
    public Work.Verify work() {
        return new Work.Verify(callId, dispatch);
    }
}
