package dev.waymark.client.document;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.thread.CallItem;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Part;
import dev.waymark.history.Moment;
import dev.waymark.history.Timeline;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The tool calls of a thread, read from its whole history. Includes calls that the state has dropped because the
 * conversation was cleared or a summary replaced them, and shows who settled an unknown outcome.
 */
public final class CallLog {
    private final String thread;
    private final Map<String, CallItem> forgotten = new HashMap<>();

    private CallLog(String thread) {
        this.thread = thread;
    }

    /** Returns the calls, oldest first. */
    public static List<CallItem> of(Timeline timeline) {
        CallLog log = new CallLog(timeline.thread());
        Optional<Conversation> before = Optional.empty();
        for (Moment moment : timeline.moments()) {
            if (before.isPresent() && moment.fact().isPresent()) {
                log.note(before.get(), moment);
            }
            before = Optional.of(moment.state());
        }
        List<CallItem> calls = new ArrayList<>(CallItem.of(timeline.thread(), timeline.now(), Integer.MAX_VALUE));
        Map<String, CallItem> dropped = new HashMap<>();
        timeline.forEachDroppedCall(
                (last, call) -> dropped.put(call.id(), CallItem.of(timeline.thread(), last, call.id())));
        calls.addAll(dropped.values());
        calls.sort(Comparator.comparing(CallItem::since).thenComparing(CallItem::callId));
        return calls.stream().map(log::recalled).toList();
    }

    private void note(Conversation before, Moment moment) {
        if (!before.transcript().isEmpty() && moment.state().transcript().isEmpty()) {
            before.calls().forEach((id, call) -> forgotten.putIfAbsent(id, CallItem.of(thread, before, id)));
        }
    }

    private CallItem recalled(CallItem call) {
        return Optional.ofNullable(forgotten.get(call.callId()))
                .map(call::recalling)
                .orElse(call);
    }

    /** Returns the results of all calls in the history, by call id. */
    public static Map<String, Part.ToolResult> results(Timeline timeline) {
        Map<String, Part.ToolResult> results = new HashMap<>();
        // After a clear or a summary, only earlier states have the results.
        for (Moment moment : timeline.moments()) {
            moment.state().batchCalls().stream()
                    .flatMap(call -> call.toolResult().stream())
                    .forEach(result -> results.put(result.toolUseId(), result));
        }
        timeline.now().transcript().messages().stream()
                .flatMap(message -> message.toolResults().stream())
                .forEach(result -> results.put(result.toolUseId(), result));
        return results;
    }

    public static ArrayNode document(List<CallItem> calls, Map<String, Part.ToolResult> results) {
        ArrayNode list = JsonNodeFactory.instance.arrayNode();
        for (CallItem call : calls) {
            ObjectNode item = PayloadJson.MAPPER.valueToTree(call);
            Optional.ofNullable(results.get(call.callId())).ifPresent(result -> {
                item.put("result", result.content());
                item.put("isError", result.isError());
            });
            list.add(item);
        }
        return list;
    }
}
