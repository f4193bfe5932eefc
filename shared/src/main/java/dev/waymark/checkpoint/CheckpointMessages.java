package dev.waymark.checkpoint;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Transcript;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The messages of a conversation, including results not yet committed to the transcript. */
public final class CheckpointMessages {
    private CheckpointMessages() {}

    /** The transcript, followed by the results of its newest calls so far. */
    public static List<Transcript.Entry> entries(Conversation state) {
        List<Transcript.Entry> entries = new ArrayList<>();
        state.transcript().entries().toList().forEach(entry -> entries.add(documented(entry)));
        List<Part.ToolResult> results = state.uncommittedResults();
        if (!results.isEmpty()) {
            Instant newest = state.batchCalls().stream()
                    .filter(call -> call.result().isPresent())
                    .map(Call::since)
                    .max(Instant::compareTo)
                    .orElseThrow();
            String id = "m" + (state.counters().messages() + 1);
            entries.add(documented(new Transcript.Entry(id, newest, Optional.empty(), Message.results(results))));
        }
        return entries;
    }

    private static Transcript.Entry documented(Transcript.Entry entry) {
        Message plain = documented(entry.message());
        return plain.equals(entry.message()) ? entry : entry.saying(plain);
    }

    /**
     * A copy without data that is only for a provider: notes in front of results, and the provider's own form of calls.
     */
    static Message documented(Message message) {
        return new Message(
                message.role(),
                message.content().stream().map(CheckpointMessages::documented).toList());
    }

    private static Part documented(Part part) {
        if (part instanceof Part.ToolResult result && result.note().isPresent()) {
            return new Part.ToolResult(result.toolUseId(), result.content(), result.isError());
        }
        return part instanceof Part.ToolUse use && use.sent().isPresent()
                ? new Part.ToolUse(use.id(), use.name(), use.input())
                : part;
    }

    public static List<Message> messages(Conversation state) {
        return entries(state).stream().map(Transcript.Entry::message).toList();
    }

    /** All results, by call id. */
    public static Map<String, Part.ToolResult> results(List<Message> messages) {
        Map<String, Part.ToolResult> results = new LinkedHashMap<>();
        messages.forEach(message -> message.toolResults().forEach(result -> results.put(result.toolUseId(), result)));
        return results;
    }

    static Map<String, String> tools(List<Message> messages) {
        Map<String, String> tools = new LinkedHashMap<>();
        messages.forEach(message -> message.toolUses().forEach(use -> tools.put(use.id(), use.name())));
        return tools;
    }

    /**
     * The first call that waits for a person, in call order, for formats that store which calls were approved. Empty if
     * a call with an unknown outcome or a call of a subagent waits too, or if other calls may still run.
     */
    public static Optional<Call> waiting(Conversation state) {
        boolean unknown = state.waitingCalls().stream()
                .anyMatch(call -> isUnknown(state, call) || call.status() == Call.Status.DELEGATED);
        return state.isInterrupted() && !unknown ? state.waitingCalls().stream().findFirst() : Optional.empty();
    }

    /**
     * Like {@link #waiting}, for formats that do not store approvals. There, a call that waits for approval looks like
     * a call that was approved and then asked a question. If a call of the second kind is open, returns empty, so that
     * nobody approves it and runs it again.
     */
    public static Optional<Call> interruption(Conversation state) {
        return waiting(state).filter(call -> approvedAndAsking(state).isEmpty());
    }

    /** The calls that a person approved and that then asked a question. */
    public static List<Call> approvedAndAsking(Conversation state) {
        return state.openCalls().stream()
                .filter(call -> call.status() == Call.Status.ASKING)
                .filter(call -> call.approval().isPresent() || needsApproval(state, call))
                .toList();
    }

    /** Whether the call needs approval. A call that needs it and asks a question was approved before. */
    private static boolean needsApproval(Conversation state, Call call) {
        return state.policy()
                .filter(policy -> policy.policyOf(call.tool()).approval())
                .isPresent();
    }

    /**
     * Whether the call may have run, with an unknown outcome. For a call from a file, this is known only when its tool
     * is known.
     */
    private static boolean isUnknown(Conversation state, Call call) {
        return call.mayHaveRunBefore()
                || (call.status() == Call.Status.UNSETTLED
                        && (call.claim().isPresent() || state.policy().isPresent()));
    }

    /** The number of model replies in this turn. A running model call is not counted, since it may fail. */
    public static int iterations(Conversation state) {
        return state.turn().iterations() - (state.modelCalled() && !state.isSummarizing() ? 1 : 0);
    }
}
