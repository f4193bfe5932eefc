package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.value.Json;
import java.util.Optional;

/**
 * What a tool's activity is given. {@code run} and {@code repeat} are there where a call has to be claimed: the run that
 * decided on it, so that an execution in another run, after a reset, knows that it is not meant, and how many calls of
 * the same kind came to a known end before. {@code session} is there where idempotency keys are made of another id than
 * the thread's.
 *
 * <p>The tool's name is the activity's type. The number of the dispatch is left out where it
 * is 1, as it nearly always is: it would stand in history once for every call.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record ToolInput(
        @JsonProperty("callId") String callId,

        @JsonProperty("dispatch") @JsonInclude(value = JsonInclude.Include.CUSTOM, valueFilter = One.class)
        int dispatch,

        @JsonProperty("args") Json args,

        @JsonProperty("run") @JsonInclude(JsonInclude.Include.NON_ABSENT)
        Optional<String> run,

        @JsonProperty("repeat") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
        int repeat,

        @JsonProperty("session") @JsonInclude(JsonInclude.Include.NON_ABSENT)
        Optional<String> session)
        implements ActivityInput {
    @JsonCreator
    public ToolInput {
        dispatch = dispatch == 0 ? 1 : dispatch;
        run = run == null ? Optional.empty() : run;
        session = session == null ? Optional.empty() : session;
    }

    /** For a call that needs no claim. */
    public ToolInput(String callId, int dispatch, Json args, Optional<String> session) {
        this(callId, dispatch, args, Optional.empty(), 0, session);
    }

    @Override
    public Work.Tool work() {
        return new Work.Tool(callId, dispatch);
    }
}
