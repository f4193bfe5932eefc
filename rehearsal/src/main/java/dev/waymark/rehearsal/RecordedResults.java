package dev.waymark.rehearsal;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The results of the calls that a thread ran, by their tool and arguments. */
final class RecordedResults {
    private final Map<String, List<Result>> byCall = new HashMap<>();

    /** @param facts the number of facts that the thread had when it got the result */
    private record Result(int facts, Part.ToolResult result) {}

    RecordedResults(Timeline timeline) {
        List<Moment> moments = timeline.moments();
        for (int i = 1; i < moments.size(); i++) {
            // A model call commits the results before it, and drops their texts from the calls.
            Fact fact = moments.get(i).fact().orElse(null);
            if (fact instanceof ModelFact.ModelCalled || fact instanceof ModelFact.SummaryRequested) {
                take(moments.get(i - 1).state());
            }
        }
        take(timeline.now());
    }

    private void take(Conversation state) {
        for (Call call : state.batchCalls()) {
            boolean isRun = call.dispatches() > 0 || call.subagent().isPresent();
            if (isRun && (call.status() == Call.Status.COMPLETED || call.status() == Call.Status.FAILED)) {
                call.toolResult()
                        .map(result -> whole(state, result))
                        .ifPresent(result -> byCall.computeIfAbsent(
                                        key(call.tool(), call.args()), key -> new ArrayList<>())
                                .add(new Result(state.counters().facts(), result)));
            }
        }
    }

    /** The result before it was cut: the rehearsed agent cuts it by its own rule, and reads on by its own handle. */
    private static Part.ToolResult whole(Conversation state, Part.ToolResult told) {
        return state.wholeResult(told)
                .map(text -> new Part.ToolResult(told.toolUseId(), text, told.isError(), told.note()))
                .orElse(told);
    }

    /**
     * Returns the result of a call of the same tool with the same arguments: the first one after the thread had this
     * many facts or, if there is none, the last one before.
     */
    Optional<Part.ToolResult> of(Call call, int facts) {
        List<Result> known = byCall.getOrDefault(key(call.tool(), call.args()), List.of());
        return known.stream()
                .filter(result -> result.facts() > facts)
                .findFirst()
                .or(() -> known.stream().reduce((first, second) -> second))
                .map(Result::result);
    }

    private static String key(String tool, Json args) {
        return tool + "\n" + args.canonical();
    }
}
