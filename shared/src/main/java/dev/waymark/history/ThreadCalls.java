package dev.waymark.history;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/** The calls of a thread, including those that summaries dropped. */
public final class ThreadCalls {
    private ThreadCalls() {}

    /** All calls of the thread in their last state by id, including those that a summary dropped. */
    public static Map<String, Call> of(Timeline timeline) {
        Map<String, Call> all = new LinkedHashMap<>();
        forEachDropped(timeline, (last, call) -> all.put(call.id(), call));
        timeline.now().calls().forEach(all::put);
        return all;
    }

    /**
     * Passes on each call that a summary dropped and that the thread no longer has, with the last state that had it.
     */
    public static void forEachDropped(Timeline timeline, BiConsumer<Conversation, Call> reader) {
        List<Moment> moments = timeline.moments();
        for (int i = 1; i < moments.size(); i++) {
            if (moments.get(i)
                    .fact()
                    .filter(ModelFact.Summarised.class::isInstance)
                    .isPresent()) {
                Conversation before = moments.get(i - 1).state();
                Conversation after = moments.get(i).state();
                before.calls().forEach((id, call) -> {
                    if (!after.calls().contains(id) && !timeline.now().calls().contains(id)) {
                        reader.accept(before, call);
                    }
                });
            }
        }
    }
}
