package dev.waymark.client.document;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.thread.CallItem;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Part;
import dev.waymark.history.ThreadCalls;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
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
        ThreadCalls.forEachDropped(
                timeline, (last, call) -> dropped.put(call.id(), CallItem.of(timeline.thread(), last, call.id())));
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

    /**
     * The result of a call.
     *
     * @param whole all of it, if the model was shown a part
     */
    public record Result(Part.ToolResult told, Optional<String> whole) {}

    /** Returns the results of all calls in the history, by call id. */
    public static Map<String, Result> results(Timeline timeline) {
        Map<String, Result> results = new HashMap<>();
        // After a clear or a summary, only earlier states have the results.
        for (Moment moment : timeline.moments()) {
            moment.state().batchCalls().stream()
                    .flatMap(call -> call.toolResult().stream())
                    .forEach(result -> put(results, result, moment.state()));
        }
        timeline.now().transcript().messages().stream()
                .flatMap(message -> message.toolResults().stream())
                .forEach(result -> put(results, result, timeline.now()));
        return results;
    }

    private static void put(Map<String, Result> results, Part.ToolResult told, Conversation state) {
        String id = told.toolUseId();
        Optional<String> whole = state.wholeResult(told)
                .or(() -> Optional.ofNullable(results.get(id))
                        .filter(known -> known.told().content().equals(told.content()))
                        .flatMap(Result::whole));
        results.put(id, new Result(told, whole));
    }

    public static ArrayNode document(List<CallItem> calls, Map<String, Result> results) {
        ArrayNode list = JsonNodeFactory.instance.arrayNode();
        for (CallItem call : calls) {
            ObjectNode item = PayloadJson.MAPPER.valueToTree(call);
            Optional.ofNullable(results.get(call.callId())).ifPresent(result -> {
                item.put("result", result.told().content());
                item.put("isError", result.told().isError());
                result.whole().ifPresent(text -> item.put("wholeResult", text));
            });
            list.add(item);
        }
        return list;
    }
}
