package dev.waymark.contract.work;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.value.Json;
import java.util.Optional;

/**
 * The input of the {@code verify} activity: the lost call to check.
 *
 * @param token the fencing token of the lost execution; 0 if its claim is not known
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record VerifyInput(
        @JsonProperty("callId") String callId,
        @JsonProperty("dispatch") int dispatch,
        @JsonProperty("tool") String tool,
        @JsonProperty("args") Json args,

        @JsonProperty("repeat") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
        int repeat,

        @JsonProperty("token") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
        long token,

        @JsonProperty("session") @JsonInclude(JsonInclude.Include.NON_ABSENT)
        Optional<String> session)
        implements ActivityInput {
    @JsonCreator
    public VerifyInput {
        session = session == null ? Optional.empty() : session;
    }

    @Override
    public Work.Verify work() {
        return new Work.Verify(callId, dispatch);
    }
}
