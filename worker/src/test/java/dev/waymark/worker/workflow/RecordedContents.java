package dev.waymark.worker.workflow;

import dev.waymark.contract.WireNames;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.history.Projector;
import dev.waymark.timeline.Moment;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.common.WorkflowExecutionHistory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/**
 * Lists what recorded histories contain: facts, kinds of events, activities of Waymark's own, statuses of calls, and
 * shapes of threads. The order of a workflow's commands is not part of its states, so each shape needs a history that a
 * workflow replays.
 */
final class RecordedContents {
    private static final Set<String> OWN_ACTIVITIES = Set.of(
            WireNames.AGENT_ACTIVITY,
            WireNames.MODEL_ACTIVITY,
            WireNames.VERIFY_ACTIVITY,
            WireNames.JUDGE_ACTIVITY,
            WireNames.TASK_ACTIVITY,
            WireNames.ANNOUNCE_ACTIVITY,
            WireNames.STATE_ACTIVITY);

    private RecordedContents() {}

    static Set<String> of(WorkflowExecutionHistory history) {
        Set<String> contents = new TreeSet<>();
        List<Moment> moments = new ArrayList<>();
        Projector projector = new Projector("recorded", moments::add);
        for (HistoryEvent event : history.getEvents()) {
            contents.add("event "
                    + event.getEventType().name().replace("EVENT_TYPE_", "").toLowerCase(Locale.ROOT));
            if (event.hasActivityTaskScheduledEventAttributes()) {
                String name = event.getActivityTaskScheduledEventAttributes()
                        .getActivityType()
                        .getName();
                contents.add("activity " + (OWN_ACTIVITIES.contains(name) ? name : "of a tool"));
            }
            if (event.hasWorkflowExecutionStartedEventAttributes()) {
                var started = event.getWorkflowExecutionStartedEventAttributes();
                contents.add(
                        started.hasParentWorkflowExecution()
                                ? "shape subagent"
                                : started.getContinuedExecutionRunId().isEmpty()
                                        ? "shape first run"
                                        : "shape next run");
            }
            projector.accept(event);
        }
        for (Moment moment : moments) {
            moment.fact().map(Fact::type).ifPresent(type -> contents.add("fact " + type));
            moment.state()
                    .calls()
                    .forEach((id, call) ->
                            contents.add("call " + call.status().name().toLowerCase(Locale.ROOT)));
            if (!moment.state().callBook().longResults().isEmpty()) {
                contents.add("shape long results");
            }
            if (moment.state().untrusted().filter(words -> !words.isNone()).isPresent()) {
                contents.add("shape untrusted words");
            }
            if (moment.state().transcript().messages().stream()
                    .flatMap(message -> message.toolUses().stream())
                    .anyMatch(use ->
                            use.sent().map(sent -> sent.field("use_tool")).isPresent())) {
                contents.add("shape deferred tool");
            }
            if (!moment.place().isLast()) {
                contents.add("shape fused step");
            }
        }
        return contents;
    }
}
