package dev.waymark.rehearsal;

import dev.waymark.conversation.call.Call;
import dev.waymark.history.RecordedReply;
import java.util.Optional;

/** The results of calls in a continuation: those that the thread recorded, and scripted ones. No tool runs. */
record CallResults(RecordedResults recorded, ScriptedResults scripted) {
    /** @param source the origin of the result, in one word */
    record CallResult(String content, boolean isError, String source) {}

    /**
     * The result of a call, if there is one.
     *
     * @param from the recorded reply that the candidate's reply replaces
     */
    Optional<CallResult> of(Call call, RecordedReply from) {
        return recorded.of(call, from.replied().state().counters().facts())
                .map(result -> new CallResult(result.content(), result.isError(), "recorded"))
                .or(() -> scripted.of(call).map(entry -> new CallResult(entry.content(), entry.isError(), "scripted")));
    }
}
