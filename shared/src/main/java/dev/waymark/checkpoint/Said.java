package dev.waymark.checkpoint;

import dev.waymark.conversation.Call;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Message;
import dev.waymark.conversation.Part;
import dev.waymark.conversation.Transcript;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What was said in a conversation, with the results that wait to be committed, as every format needs it. */
final class Said {
    private Said() {}

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

    /**
     * The first call that waits for a person, in call order, if nothing else is waited for. No format tells a call that
     * waits for its approval from one that may have run, be it lost, or approved before it asked: beside one of these,
     * none is named, lest it be approved again. A subagent that asks something has run, too: an answer to it is not the
     * call's result.
     */
    static Optional<Call> interruption(Conversation state) {
        boolean unknown = state.waitingCalls().stream().anyMatch(call -> mayHaveRun(state, call));
        return state.isInterrupted() && !unknown ? state.waitingCalls().stream().findFirst() : Optional.empty();
    }

    /** What a call from a file waits for is not known before its tool is. */
    private static boolean mayHaveRun(Conversation state, Call call) {
        boolean ranBeforeItAsked =
                call.status() == Call.Status.ASKING && call.approval().isPresent();
        boolean unsettled = call.status() == Call.Status.UNSETTLED
                && (call.claim().isPresent() || state.terms().isPresent());
        return ranBeforeItAsked || unsettled || call.status() == Call.Status.DELEGATED;
    }

    /** How often the model has replied in this turn: a call that is under way may come to nothing. */
    static int iterations(Conversation state) {
        return state.turn().iterations() - (state.modelCalled() && !state.isSummarising() ? 1 : 0);
    }
}
