package dev.waymark.checkpoint;

import dev.waymark.conversation.AgentPolicy;
import dev.waymark.conversation.Call;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Transcript;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What was said in a conversation, with the results that wait to be committed, as every format needs it. */
final class CheckpointMessages {
    private CheckpointMessages() {}

    /** The transcript, and behind it the results that its newest calls have so far. */
    static List<Transcript.Entry> entries(Conversation state) {
        List<Transcript.Entry> entries =
                new ArrayList<>(state.transcript().entries().toList());
        List<Part.ToolResult> results = state.uncommittedResults();
        if (!results.isEmpty()) {
            Instant newest = state.batchCalls().stream()
                    .filter(call -> call.result().isPresent())
                    .map(Call::since)
                    .max(Instant::compareTo)
                    .orElseThrow();
            String id = "m" + (state.counters().messages() + 1);
            entries.add(new Transcript.Entry(id, newest, Optional.empty(), Message.results(results)));
        }
        return entries;
    }

    static List<Message> messages(Conversation state) {
        return entries(state).stream().map(Transcript.Entry::message).toList();
    }

    /** Every result by the id of its call. */
    static Map<String, Part.ToolResult> results(List<Message> messages) {
        Map<String, Part.ToolResult> results = new LinkedHashMap<>();
        messages.forEach(message -> message.toolResults().forEach(result -> results.put(result.toolUseId(), result)));
        return results;
    }

    /** Every call's tool by the call's id. */
    static Map<String, String> tools(List<Message> messages) {
        Map<String, String> tools = new LinkedHashMap<>();
        messages.forEach(message -> message.toolUses().forEach(use -> tools.put(use.id(), use.name())));
        return tools;
    }

    /** The first call that waits for a person, in call order, where the format tells which calls were approved. */
    static Optional<Call> waiting(Conversation state) {
        boolean unknown = state.waitingCalls().stream()
                .anyMatch(call -> isUnknown(state, call) || call.status() == Call.Status.DELEGATED);
        return state.isInterrupted() && !unknown ? state.waitingCalls().stream().findFirst() : Optional.empty();
    }

    /**
     * The same where it does not. A call that waits for its approval looks like one that was approved and then asked:
     * beside one of these none is named, lest it be approved again, and run again.
     */
    static Optional<Call> interruption(Conversation state) {
        return waiting(state).filter(call -> approvedAndAsking(state).isEmpty());
    }

    /** The calls that a person approved, and that then asked something. */
    static List<Call> approvedAndAsking(Conversation state) {
        return state.openCalls().stream()
                .filter(call -> call.status() == Call.Status.ASKING)
                .filter(call -> call.approval().isPresent() || needsApproval(state, call))
                .toList();
    }

    /** It can't have asked without one. */
    private static boolean needsApproval(Conversation state, Call call) {
        return state.terms()
                .flatMap(terms -> Optional.ofNullable(terms.care().get(call.tool())))
                .filter(AgentPolicy.Care::approval)
                .isPresent();
    }

    /** It may have run, and nobody knows. What a call from a file waits for is not known before its tool is. */
    private static boolean isUnknown(Conversation state, Call call) {
        return call.status() == Call.Status.UNSETTLED
                && (call.claim().isPresent() || state.terms().isPresent());
    }

    /** How often the model has replied in this turn: a call that is under way may come to nothing. */
    static int iterations(Conversation state) {
        return state.turn().iterations() - (state.modelCalled() && !state.isSummarising() ? 1 : 0);
    }
}
