package dev.waymark.contract.thread;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.CallApproval;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.IdempotencyKey;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * A row of the tool call log.
 *
 * @param key the idempotency key of the call with these arguments; empty if they were deleted
 * @param since the time of the last status change
 * @param settled how a person settled the unknown outcome
 * @param claimedAt when an execution was allowed to take effect
 * @param verdict what the agent's rules said about the call, if it has a tool with rules
 * @param fromFile whether only a file contains the call, so that a person must decide in this thread whether it runs
 * @param grant the number of the grant that lets the call run, if any
 * @param requested the arguments that the model chose, if a person changed them
 */
public record CallItem(
        String callId,
        String tool,
        Json args,
        Optional<String> key,
        int dispatches,
        String status,
        Instant since,
        Optional<CallApproval> approval,
        Optional<Instant> claimedAt,
        Optional<String> question,
        Optional<CallSettlement> settled,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean fromFile,

        Optional<CallVerdict> verdict,
        Optional<Integer> grant,
        Optional<Json> requested) {
    private static final String ISSUED = "issued";
    private static final String CLAIMED = "claimed";

    /** The calls whose status changed last, at most this many, in the order of the changes. */
    public static List<CallItem> of(String thread, Conversation state, int most) {
        String session = state.session().orElse(thread);
        List<Call> calls = new ArrayList<>();
        state.calls().forEach((id, call) -> calls.add(call));
        calls.sort(Comparator.comparing(Call::since));
        return calls.subList(Math.max(0, calls.size() - most), calls.size()).stream()
                .map(call -> of(session, state, call))
                .toList();
    }

    /** One call of a thread. */
    public static CallItem of(String thread, Conversation state, String callId) {
        return of(
                state.session().orElse(thread), state, state.calls().get(callId).orElseThrow());
    }

    private static CallItem of(String session, Conversation state, Call call) {
        Optional<String> key = call.digest().isPresent()
                ? Optional.empty()
                : Optional.of(IdempotencyKey.of(session, call.tool(), call.args(), state.repeatOf(call)));
        return new CallItem(
                call.id(),
                call.tool(),
                call.args(),
                key,
                call.dispatches(),
                statusName(call.status()),
                call.since(),
                call.approval(),
                call.claim().map(Call.Claim::at),
                call.question(),
                call.settlement(),
                call.fromFile().isPresent(),
                shown(state, call),
                call.grant(),
                call.requested());
    }

    /** The verdict of the rules; empty for a tool without rules. */
    private static Optional<CallVerdict> shown(Conversation state, Call call) {
        boolean ruled = state.policy()
                .filter(policy -> policy.policyOf(call.tool()).ruled())
                .isPresent();
        return call.verdict().filter(verdict -> ruled).map(CallVerdict::ofRules);
    }

    /** The name, in spans and metrics, of what the call waits for. */
    public static String waitName(Call call) {
        return switch (call.status()) {
            case AWAITING -> "approval";
            case ASKING -> "question";
            case UNSETTLED -> "settlement";
            default -> "subagent";
        };
    }

    private static String statusName(Call.Status status) {
        return switch (status) {
            case ISSUED, HELD, JUDGING, AWAITING, DISPATCHED, ASKING -> ISSUED;
            case CLAIMED, REMOTE, FOLLOWING, DELEGATED, UNKNOWN, DOUBTED, VERIFYING, UNSETTLED -> CLAIMED;
            case COMPLETED -> "completed";
            case FAILED -> "failed";
            case DENIED -> "denied";
            case CANCELLED -> "cancelled";
            case LOST -> "lost";
        };
    }

    private CallItem with(
            Json args,
            Optional<String> key,
            Optional<CallApproval> approval,
            Optional<String> question,
            Optional<CallSettlement> settled,
            Optional<CallVerdict> verdict) {
        return new CallItem(
                callId,
                tool,
                args,
                key,
                dispatches,
                status,
                since,
                approval,
                claimedAt,
                question,
                settled,
                fromFile,
                verdict,
                grant,
                requested);
    }

    /** A copy that restores the data that the thread has deleted since the earlier item. */
    public CallItem recalling(CallItem earlier) {
        return with(
                earlier.args,
                earlier.key,
                earlier.approval,
                earlier.question,
                earlier.settled.or(() -> settled),
                earlier.verdict);
    }

    /** Whether the call has no result yet. */
    public boolean lacksResult() {
        return status.equals(ISSUED) || status.equals(CLAIMED);
    }

    /**
     * A copy with the question cut to this many characters. Arguments whose JSON is longer are replaced by their
     * length.
     */
    public CallItem shortened(int most) {
        return with(
                args.shortened(most), key, approval, question.map(text -> Problem.cut(text, most)), settled, verdict);
    }
}
