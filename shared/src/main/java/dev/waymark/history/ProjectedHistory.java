package dev.waymark.history;

import dev.waymark.timeline.Moment;
import io.temporal.common.WorkflowExecutionHistory;
import java.util.ArrayList;
import java.util.List;

/**
 * A complete history, projected.
 *
 * @param contradictions descriptions of data that the workflow or its worker recorded and that the events contradict
 */
public record ProjectedHistory(List<Moment> moments, List<DigestMismatch> mismatches, List<String> contradictions) {
    public ProjectedHistory {
        moments = List.copyOf(moments);
        mismatches = List.copyOf(mismatches);
        contradictions = List.copyOf(contradictions);
    }

    public static ProjectedHistory project(WorkflowExecutionHistory history) {
        List<Moment> moments = new ArrayList<>();
        Projector projector = new Projector(history.getWorkflowExecution().getRunId(), moments::add);
        history.getEvents().forEach(projector::accept);
        return new ProjectedHistory(moments, projector.mismatches(), projector.contradictions());
    }
}
