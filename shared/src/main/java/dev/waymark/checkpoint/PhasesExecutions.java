package dev.waymark.checkpoint;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.Parent;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.value.Json;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The rows of a snapshot for calls that have a result. The row of each call is created once. */
final class PhasesExecutions {
    private final Map<Call, Json> rows = new IdentityHashMap<>();

    /**
     * The rows of the tool calls: those in the snapshot that the thread started from, and one for each later result.
     */
    List<Object> ofTools(Conversation state) {
        List<Object> rows = new ArrayList<>(Extras.of(state).list("tool_executions"));
        Set<String> known = new HashSet<>();
        for (Object row : rows) {
            known.add(String.valueOf(((Map<?, ?>) row).get("tool_call_id")));
        }
        Extras.of(state).list("not_executed").forEach(known::remove);
        known.addAll(recordedSubagentCalls(state));
        forEachResult(state, (use, call, result, millis) -> {
            if (!known.contains(use.id()) && !state.isForSubagent(call)) {
                rows.add(this.rows.computeIfAbsent(call, each -> Json.of(execution(use, result, millis, state))));
            }
        });
        return rows;
    }

    /**
     * The ids of the subagent calls in the snapshot that the thread started from. The calls are found by content,
     * because the snapshot's rows have no ids.
     */
    private static Set<String> recordedSubagentCalls(Conversation state) {
        List<Object> rows = new ArrayList<>(Extras.of(state).list("subagent_executions"));
        Set<String> calls = new HashSet<>();
        if (!rows.isEmpty()) {
            forEachResult(state, (use, call, result, millis) -> {
                for (int i = 0; i < rows.size(); i++) {
                    if (isAbout((Map<?, ?>) rows.get(i), use, result)) {
                        rows.remove(i);
                        calls.add(use.id());
                        break;
                    }
                }
            });
        }
        return calls;
    }

    private static boolean isAbout(Map<?, ?> row, Part.ToolUse use, Part.ToolResult result) {
        // A snapshot's messages do not show which results are errors.
        boolean isText = result.content().equals(row.get("output_text"))
                || result.content().equals(row.get("error"));
        return isText && use.name().equals(row.get("subagent_name"));
    }

    /**
     * The rows of the subagent calls: those in the snapshot that the thread started from, and one for each later
     * result.
     */
    List<Object> ofSubagents(Conversation state) {
        List<Object> rows = new ArrayList<>(Extras.of(state).list("subagent_executions"));
        Set<String> known = recordedSubagentCalls(state);
        forEachResult(state, (use, call, result, millis) -> {
            if (state.isForSubagent(call) && !known.contains(use.id())) {
                rows.add(this.rows.computeIfAbsent(call, each -> Json.of(subagentExecution(use, result, millis))));
            }
        });
        return rows;
    }

    /** Receives a call with its result and duration. */
    private interface Result {
        void take(Part.ToolUse use, Call call, Part.ToolResult result, long millis);
    }

    private static void forEachResult(Conversation state, Result taker) {
        List<Transcript.Entry> entries = CheckpointMessages.entries(state);
        Map<String, Part.ToolResult> results = CheckpointMessages.results(
                entries.stream().map(Transcript.Entry::message).toList());
        for (Transcript.Entry entry : entries) {
            for (Part.ToolUse use : entry.message().toolUses()) {
                Part.ToolResult result = results.get(use.id());
                Optional<Call> call = state.calls().get(use.id());
                if (result != null && call.isPresent()) {
                    long latency =
                            Duration.between(entry.at(), call.get().since()).toMillis();
                    taker.take(use, call.get(), result, Math.max(0, latency));
                }
            }
        }
    }

    private static Map<String, Object> subagentExecution(Part.ToolUse use, Part.ToolResult result, long millis) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("subagent_name", use.name());
        row.put("success", !result.isError());
        row.put("output_text", result.isError() ? null : result.content());
        row.put("error", result.isError() ? result.content() : null);
        row.put("latency_ms", millis);
        return row;
    }

    private static Map<String, Object> execution(
            Part.ToolUse use, Part.ToolResult result, long millis, Conversation state) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("tool_name", use.name());
        row.put("tool_call_id", use.id());
        row.put("success", !result.isError());
        row.put("output", result.isError() ? null : result.content());
        row.put("error", result.isError() ? result.content() : null);
        row.put("latency_ms", millis);
        row.put("agent_name", state.agent());
        row.put("agent_depth", state.parent().map(Parent::depth).orElse(0));
        return row;
    }

    /** The number of the turn's calls that have a result. Calls of a pending reply are not counted. */
    static int count(Conversation state, Optional<Message> pending) {
        int turn = state.turn().number();
        int[] count = {
            Extras.of(state).countOfTurn("tool_calls") + state.callBook().countDropped(turn)
        };
        Set<String> toMake = new HashSet<>();
        pending.ifPresent(reply -> reply.toolUses().forEach(use -> toMake.add(use.id())));
        state.calls()
                .forEach((id, call) ->
                        count[0] += call.turn() == turn && !call.isOpen() && !toMake.contains(id) ? 1 : 0);
        return count[0];
    }
}
