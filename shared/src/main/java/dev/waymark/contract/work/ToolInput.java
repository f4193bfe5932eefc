package dev.waymark.contract.work;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.conversation.call.Suspension;
import dev.waymark.conversation.value.Json;
import java.util.List;
import java.util.Optional;

/**
 * The input of a tool's activity. {@code run} and {@code repeat} are set for calls that must be claimed. {@code run} is
 * the run that dispatched the call, so that after a reset an execution in another run does not claim it. {@code repeat}
 * is the number of earlier identical calls with a known outcome. {@code session} is set if idempotency keys are not
 * derived from the thread's id. {@code suspension} is set for a call that its server did not finish; the execution
 * sends it back. {@code definitions} are the digests of the tool's definitions that people approved; with any other
 * definition, the call does not run. {@code grant} is the number of the grant that lets the call run.
 *
 * <p>The tool's name is the activity type. A dispatch number of 1, the usual case, is omitted to save space in history.
 */
public record ToolInput(
        String callId,

        @JsonInclude(value = JsonInclude.Include.CUSTOM, valueFilter = One.class)
        int dispatch,

        Json args,

        Optional<String> run,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) int repeat,

        Optional<String> session,
        Optional<Suspension> suspension,

        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> definitions,

        Optional<Integer> grant)
        implements ActivityInput {
    public ToolInput {
        definitions = definitions == null ? List.of() : List.copyOf(definitions);
        dispatch = dispatch == 0 ? 1 : dispatch;
    }

    /** The input for a call that needs no claim. */
    public ToolInput(
            String callId, int dispatch, Json args, Optional<String> session, Optional<Suspension> suspension) {
        this(callId, dispatch, args, Optional.empty(), 0, session, suspension, List.of(), Optional.empty());
    }

    @Override
    public Work.Tool work() {
        return new Work.Tool(callId, dispatch);
    }
}
