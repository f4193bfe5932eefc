package dev.waymark.history;

import dev.waymark.contract.CarriedState;
import dev.waymark.contract.thread.StateReport;
import dev.waymark.conversation.state.UnknownRulesException;
import io.temporal.api.enums.v1.EventType;
import io.temporal.api.history.v1.History;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.common.WorkflowExecutionHistory;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Replays and projects histories with this build, and reports where this build would break a thread or understand it
 * differently.
 */
public final class HistoryAudit {
    /** The events that end a run without a worker. */
    private static final Set<EventType> OUTSIDE_ENDS = Set.of(
            EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED, EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT);

    private final HistoryReplay replay;

    public HistoryAudit(HistoryReplay replay) {
        this.replay = replay;
    }

    /** What a running workflow reports about itself. */
    public record Live(String runId, StateReport report) {}

    /**
     * The result for a thread.
     *
     * @param agent the name of the thread's agent; empty if it could not be read or was not chosen yet
     * @param findings oldest run first; empty if this build can continue the thread
     * @param open the newest state with the recorded agent; empty if the thread is closed or can't be projected
     */
    public record Audited(
            Optional<String> agent, int events, List<HistoryFinding> findings, Optional<CarriedState> open) {
        public Audited {
            findings = List.copyOf(findings);
        }
    }

    public Audited audit(ThreadHistory thread) {
        return audit(thread, Optional.empty());
    }

    /** Also compares the projection with the state of the running workflow, if it reported one. */
    public Audited audit(ThreadHistory thread, Optional<Live> live) {
        List<HistoryFinding> findings = new ArrayList<>();
        Optional<String> agent = Optional.empty();
        int events = 0;
        Optional<CarriedState> open = Optional.empty();
        for (ThreadHistory.Run run : thread.runs()) {
            Optional<Live> ofRun = live.filter(report -> report.runId().equals(run.runId()));
            RunAudit audit = new RunAudit(run, ofRun);
            Optional<String> found = audit.project();
            open = audit.open();
            agent = found.isPresent() ? found : agent;
            if (!audit.hasUnknownRules()) { // Workers would not even begin to replay the run.
                replay.replay(replayable(run.history()))
                        .ifPresent(failure -> findings.add(new HistoryFinding(
                                HistoryFinding.Kind.NONDETERMINISM,
                                run.runId(),
                                failure.eventId(),
                                "the workflow code of this build decides otherwise than the thread did: "
                                        + failure.message())));
            }
            findings.addAll(audit.findings);
            events += run.history().getEvents().size();
        }
        return new Audited(agent, events, findings, open);
    }

    /** The history without an end that the SDK cannot replay: a termination, or a timeout of the run. */
    public static WorkflowExecutionHistory replayable(WorkflowExecutionHistory history) {
        List<HistoryEvent> events = history.getEvents();
        HistoryEvent last = events.get(events.size() - 1);
        return OUTSIDE_ENDS.contains(last.getEventType())
                ? new WorkflowExecutionHistory(
                        History.newBuilder()
                                .addAllEvents(events.subList(0, events.size() - 1))
                                .build(),
                        history.getWorkflowExecution().getWorkflowId())
                : history;
    }

    /** Projects one run and collects findings. */
    private static final class RunAudit {
        private final ThreadHistory.Run run;
        private final Optional<Live> live;
        private final List<HistoryFinding> findings = new ArrayList<>();
        private final Projector projector;
        private Optional<RunProjection> atReport = Optional.empty();
        private boolean isProjected;
        private int told;

        RunAudit(ThreadHistory.Run run, Optional<Live> live) {
            this.run = run;
            this.live = live;
            this.projector = new Projector(run.runId(), moment -> {});
        }

        /** Projects the run. Returns the name of the agent, if it is known. */
        Optional<String> project() {
            for (HistoryEvent event : run.history().getEvents()) {
                try {
                    accept(event);
                } catch (UnknownRulesException e) {
                    add(HistoryFinding.Kind.RULES, event.getEventId(), String.valueOf(e.getMessage()));
                    return Optional.empty();
                } catch (RuntimeException e) {
                    add(event.getEventId(), "this build cannot read what happened: " + e.getMessage());
                    return agent();
                }
            }
            isProjected = true;
            for (DigestMismatch mismatch : projector.mismatches()) {
                add(
                        mismatch.eventId(),
                        "this build would give the model another conversation here than it was given: "
                                + mismatch.messageCount() + " messages instead of "
                                + mismatch.recorded().messageCount() + " (digest " + mismatch.digest() + " instead of "
                                + mismatch.recorded().digest() + ")");
            }
            if (findings.isEmpty()) {
                compareStates();
            }
            return agent();
        }

        Optional<CarriedState> open() {
            return isProjected && projector.ending().isEmpty()
                    ? projector.state().map(state -> new CarriedState(state, projector.agent()))
                    : Optional.empty();
        }

        private boolean hasUnknownRules() {
            return findings.stream().anyMatch(finding -> finding.kind() == HistoryFinding.Kind.RULES);
        }

        private void accept(HistoryEvent event) {
            projector.accept(event);
            List<String> contradictions = projector.contradictions();
            for (String each : contradictions.subList(told, contradictions.size())) {
                add(event.getEventId(), each);
            }
            told = contradictions.size();
            if (live.isPresent()
                    && projector.taskStartedId() <= live.get().report().historyLength()) {
                atReport = projector.state().map(RunProjection::of);
            }
        }

        private void compareStates() {
            run.projection()
                    .ifPresent(recorded -> compare(
                            projector.lastEventId(),
                            "the recording",
                            recorded,
                            projector.state().map(RunProjection::of)));
            live.map(Live::report)
                    .ifPresent(report -> compare(
                            report.historyLength(),
                            "the running workflow",
                            RunProjection.of(
                                    report, atReport.map(RunProjection::status).orElse("unknown")),
                            atReport));
        }

        private void compare(long eventId, String who, RunProjection expected, Optional<RunProjection> here) {
            if (!Optional.of(expected).equals(here)) {
                add(
                        eventId,
                        "this build derives another state from the same events than " + who + ": "
                                + here.map(Objects::toString).orElse("none") + " instead of " + expected);
            }
        }

        private Optional<String> agent() {
            return projector.state().map(state -> state.agent()).filter(name -> !name.isEmpty());
        }

        private void add(long eventId, String message) {
            add(HistoryFinding.Kind.PROJECTION, eventId, message);
        }

        private void add(HistoryFinding.Kind kind, long eventId, String message) {
            findings.add(new HistoryFinding(kind, run.runId(), Optional.of(eventId), message));
        }
    }
}
