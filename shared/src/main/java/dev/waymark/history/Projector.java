package dev.waymark.history;

import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.CarriedReference;
import dev.waymark.contract.CarriedState;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.PreviousRunGoneException;
import dev.waymark.contract.SideEffectMarker;
import dev.waymark.contract.TraceIds;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.message.InboundDecoder;
import dev.waymark.contract.message.PassedOnDecision;
import dev.waymark.contract.message.SubagentReport;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.work.ActivityInput;
import dev.waymark.contract.work.ModelInput;
import dev.waymark.contract.work.ModelResult;
import dev.waymark.contract.work.Work;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.UnknownRulesException;
import dev.waymark.thread.ForkSource;
import dev.waymark.timeline.EventPlace;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.RunEnding;
import dev.waymark.timeline.Timeline;
import io.temporal.api.common.v1.Payload;
import io.temporal.api.common.v1.Payloads;
import io.temporal.api.history.v1.ActivityTaskScheduledEventAttributes;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.api.history.v1.MarkerRecordedEventAttributes;
import io.temporal.api.history.v1.SignalExternalWorkflowExecutionInitiatedEventAttributes;
import io.temporal.api.history.v1.StartChildWorkflowExecutionInitiatedEventAttributes;
import io.temporal.api.history.v1.WorkflowExecutionSignaledEventAttributes;
import io.temporal.api.history.v1.WorkflowExecutionUpdateAcceptedEventAttributes;
import io.temporal.api.update.v1.Request;
import io.temporal.common.converter.DataConverter;
import io.temporal.common.converter.DataConverterException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Folds the history of a run, event by event, into the states of its workflow.
 *
 * <p>A workflow sees an arriving event only in the workflow task that delivers it. So events are held back until a task
 * that started after them completes. Then they are applied in history order, with the time of that task's start,
 * followed by the task's own commands. An accepted update records the event after which it was handled: usually the
 * last one, but updates that a reset reapplied keep their place among the reapplied signals. Failed and timed-out tasks
 * apply nothing. Not thread-safe.
 */
public final class Projector {
    private final String runId;
    private final Consumer<Moment> moments;
    private final DataConverter converter = PayloadJson.dataConverter();

    /**
     * Events that a completed task has seen and that are not applied yet, since an update in the next events may
     * precede them.
     */
    private final List<HeldEvent> ready = new ArrayList<>();

    private final List<HeldEvent> held = new ArrayList<>();
    /** Events that were seen before the state of the previous run had arrived. They are applied to that state. */
    private final List<HeldEvent> early = new ArrayList<>();

    private final Map<Long, Work<?>> works = new HashMap<>();
    private final Map<String, Request> admitted = new HashMap<>();

    private @Nullable Conversation state;
    private @Nullable Conversation atModelCall;
    private @Nullable AgentSpec agent;
    private @Nullable CarriedArrival arrival;
    private @Nullable RunEnding ending;
    private Optional<String> continuedFrom = Optional.empty();
    private Optional<ForkSource> forkedFrom = Optional.empty();
    private String firstRunId;
    private Optional<String> traceparent = Optional.empty();
    private long lastEventId;
    private long taskStartedId;
    private Instant taskStartedAt = Instant.EPOCH;
    private boolean commandsFollow;
    private Optional<Long> waitingTask = Optional.empty();
    /** The id of the first event with an update that a reset reapplied, since the last completed task. */
    private long firstAdmitted = Long.MAX_VALUE;

    private final RecordedDigests checks;

    /** @param moments receives every moment, in order */
    public Projector(String runId, Consumer<Moment> moments) {
        this.runId = runId;
        this.firstRunId = runId;
        this.moments = moments;
        this.checks = new RecordedDigests(runId, converter);
    }

    /** Handles the next event. Events must come in order and without gaps; repeated events are ignored. */
    public void accept(HistoryEvent event) {
        if (event.getEventId() <= lastEventId) {
            return;
        }
        if (event.getEventId() != lastEventId + 1) {
            throw new IllegalStateException("history has a gap after event " + lastEventId);
        }
        lastEventId = event.getEventId();
        switch (event.getEventType()) {
            case EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED, EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED -> {
                // More updates may follow.
            }
            default -> applyReady(Long.MAX_VALUE);
        }
        switch (event.getEventType()) {
            case EVENT_TYPE_WORKFLOW_EXECUTION_STARTED -> started(event);
            case EVENT_TYPE_WORKFLOW_TASK_SCHEDULED -> waitingTask = Optional.of(event.getEventId());
            case EVENT_TYPE_WORKFLOW_TASK_FAILED, EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT -> waitingTask = Optional.empty();
            case EVENT_TYPE_WORKFLOW_TASK_STARTED -> {
                waitingTask = Optional.empty();
                commandsFollow = false;
                taskStartedId = event.getEventId();
                taskStartedAt = timeOf(event);
            }
            case EVENT_TYPE_WORKFLOW_TASK_COMPLETED -> taskCompleted();
            case EVENT_TYPE_ACTIVITY_TASK_SCHEDULED ->
                activityScheduled(event.getEventId(), event.getActivityTaskScheduledEventAttributes());
            case EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED ->
                subagentStarted(event.getEventId(), event.getStartChildWorkflowExecutionInitiatedEventAttributes());
            case EVENT_TYPE_ACTIVITY_TASK_COMPLETED,
                    EVENT_TYPE_ACTIVITY_TASK_FAILED,
                    EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT,
                    EVENT_TYPE_ACTIVITY_TASK_CANCELED,
                    EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_FAILED,
                    EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED,
                    EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED,
                    EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_CANCELED,
                    EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TERMINATED,
                    EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TIMED_OUT -> workClosed(event);
            case EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED ->
                signalled(event.getEventId(), event.getSignalExternalWorkflowExecutionInitiatedEventAttributes());
            case EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED -> {
                WorkflowExecutionSignaledEventAttributes signal = event.getWorkflowExecutionSignaledEventAttributes();
                if (!WireNames.isReserved(signal.getSignalName())) {
                    holdFact(event, () -> InboundDecoder.read(signal.getSignalName(), first(signal.getInput())));
                }
            }
            case EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ADMITTED -> {
                Request request = event.getWorkflowExecutionUpdateAdmittedEventAttributes()
                        .getRequest();
                admitted.put(request.getMeta().getUpdateId(), request);
                firstAdmitted = Math.min(firstAdmitted, event.getEventId());
            }
            case EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED ->
                updateAccepted(event.getEventId(), event.getWorkflowExecutionUpdateAcceptedEventAttributes());
            case EVENT_TYPE_TIMER_FIRED -> holdFact(event, ThreadFact.TimePassed::new);
            case EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED -> holdFact(event, ThreadFact.CancelRequested::new);
            case EVENT_TYPE_MARKER_RECORDED -> marker(event.getEventId(), event.getMarkerRecordedEventAttributes());
            case EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED -> {
                checks.completed(
                        event.getWorkflowExecutionCompletedEventAttributes().getResult(), current());
                ended(RunEnding.Kind.COMPLETED, "");
            }
            case EVENT_TYPE_WORKFLOW_EXECUTION_FAILED -> ended(RunEnding.Kind.FAILED, "");
            case EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED -> ended(RunEnding.Kind.CANCELLED, "");
            case EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED -> ended(RunEnding.Kind.TERMINATED, "");
            case EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT -> ended(RunEnding.Kind.TIMED_OUT, "");
            case EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW ->
                ended(
                        RunEnding.Kind.CONTINUED,
                        event.getWorkflowExecutionContinuedAsNewEventAttributes()
                                .getNewExecutionRunId());
            default -> {
                // Events without meaning for the conversation.
            }
        }
    }

    /**
     * Applies the events that are held for later updates. Call it after the last available event: a server writes a
     * completed task together with its commands.
     */
    void pause() {
        applyReady(Long.MAX_VALUE);
    }

    /**
     * The current state of the workflow, or empty before its first completed workflow task and while it fetches the
     * previous run's state.
     */
    public Optional<Conversation> state() {
        List<HeldEvent> seen = new ArrayList<>(early);
        seen.addAll(ready);
        return Optional.ofNullable(fold(state, seen, each -> taskStartedAt));
    }

    /** The state that the workflow will have once a worker has processed all events that have arrived. */
    public Optional<Conversation> expectedState() {
        Conversation now = state().orElse(null);
        Optional<Conversation> previous = arrival == null ? Optional.empty() : arrival.expected();
        List<HeldEvent> coming = new ArrayList<>();
        if (now == null) {
            coming.addAll(early);
            coming.addAll(ready);
        }
        coming.addAll(held);
        if (now == null && previous.isPresent()) {
            now = previous.get();
            coming.removeIf(HeldEvent::carriesState);
        }
        return Optional.ofNullable(fold(now, coming, HeldEvent::arrivedAt));
    }

    /** The state of the previous run that this one is still fetching, unless that state is known already. */
    Optional<CarriedReference> awaited() {
        return Optional.ofNullable(arrival)
                .filter(coming -> !coming.isComplete() && coming.expected().isEmpty())
                .map(CarriedArrival::reference);
    }

    /** Sets the last state of the previous run, for readers, while this run still fetches it. */
    void expect(Projector previous) {
        Optional<Conversation> last = previous.state();
        boolean isAwaited = awaited()
                .filter(reference -> reference.runId().equals(previous.runId))
                .isPresent();
        if (arrival != null && isAwaited && last.isPresent()) {
            arrival.expect(last.get());
            agent = previous.agent;
        }
    }

    /** Applies events. Until the state of the previous run has arrived, events wait for it. */
    private @Nullable Conversation fold(
            @Nullable Conversation from, List<HeldEvent> events, Function<HeldEvent, Instant> at) {
        Conversation newest = from;
        List<HeldEvent> waiting = new ArrayList<>();
        for (HeldEvent each : events) {
            if (newest == null && isEarly(each)) {
                waiting.add(each);
            } else {
                newest = last(newest, each.applyTo(newest, at.apply(each)));
                for (HeldEvent due : waiting) {
                    newest = last(newest, due.applyTo(newest, at.apply(each)));
                }
                waiting.clear();
            }
        }
        return newest;
    }

    private static @Nullable Conversation last(@Nullable Conversation before, List<HeldEvent.Applied> applied) {
        return applied.isEmpty() ? before : applied.get(applied.size() - 1).state();
    }

    private boolean isEarly(HeldEvent event) {
        return arrival != null && state == null && !event.carriesState();
    }

    /** Where the thread began, if it is a fork. */
    public Optional<ForkSource> forkedFrom() {
        return forkedFrom;
    }

    /** The state in which the newest model call was scheduled. */
    public Optional<Conversation> atModelCall() {
        return Optional.ofNullable(atModelCall);
    }

    public Optional<AgentSpec> agent() {
        return Optional.ofNullable(agent);
    }

    /** How the run closed; empty while it is open. */
    public Optional<RunEnding> ending() {
        return Optional.ofNullable(ending);
    }

    /** The run that this one continues, if any. */
    public Optional<String> continuedFrom() {
        return continuedFrom;
    }

    public String runId() {
        return runId;
    }

    /**
     * The first run of the thread, which does not change with a reset or continue-as-new; this run before its first
     * event is read.
     */
    public String firstRunId() {
        return firstRunId;
    }

    /** The ids of the spans of the thread; only known once the first event is read. */
    public TraceIds traceIds() {
        return TraceIds.of(firstRunId, traceparent);
    }

    /** The id of the newest event read. */
    public long lastEventId() {
        return lastEventId;
    }

    /** The id of the event in which the newest workflow task started, which the workflow reports as its length. */
    public long taskStartedId() {
        return taskStartedId;
    }

    /**
     * The event that scheduled the workflow task that no worker has taken yet; empty if there is none. Retried tasks
     * are not in history, so they do not count.
     */
    public Optional<Long> waitingTask() {
        return ending == null ? waitingTask : Optional.empty();
    }

    /** The number of projected model calls, each with a recorded digest. */
    public int modelCalls() {
        return checks.modelCalls();
    }

    /** The model calls whose recorded digest differs from the projection: none, unless something is broken. */
    public List<DigestMismatch> mismatches() {
        return checks.mismatches();
    }

    /** Descriptions of other recorded data that the projection contradicts. */
    public List<String> contradictions() {
        return checks.contradictions();
    }

    private void started(HistoryEvent event) {
        var attributes = event.getWorkflowExecutionStartedEventAttributes();
        StartInput input = HistoryPages.startInput(event);
        UnknownRulesException.unlessKnown(input.rules());
        String previous = attributes.getContinuedExecutionRunId();
        firstRunId = HistoryPages.firstRunId(event).orElse(runId);
        traceparent = input.traceparent();
        continuedFrom = previous.isEmpty() ? Optional.empty() : Optional.of(previous);
        forkedFrom = input.forkedFrom();
        if (input.carried().isPresent()) {
            begin(event, CarriedState.unpack(input.carried().get()));
        } else if (input.inChunks().isPresent()) {
            arrival = new CarriedArrival(input.inChunks().get());
        } else {
            hold(event, () -> before -> input.facts());
        }
    }

    private void begin(HistoryEvent event, CarriedState carried) {
        agent = carried.agent().orElse(null);
        held.add(HeldEvent.ofState(event.getEventId(), timeOf(event), carried.state()));
    }

    private void hold(HistoryEvent event, Supplier<HeldEvent.Facts> facts) {
        held.add(HeldEvent.ofFacts(event.getEventId(), timeOf(event), facts));
    }

    private void holdFact(HistoryEvent event, Supplier<Fact> fact) {
        hold(event, () -> only(fact.get()));
    }

    private static HeldEvent.Facts only(Fact fact) {
        return before -> List.of(fact);
    }

    /** There is only one task at a time, so the completed task is the one that started last. */
    private void taskCompleted() {
        int seen = 0;
        while (seen < held.size() && held.get(seen).eventId() < taskStartedId) {
            seen++;
        }
        ready.addAll(held.subList(0, seen));
        held.subList(0, seen).clear();
        applyReady(firstAdmitted);
        firstAdmitted = Long.MAX_VALUE;
        commandsFollow = true;
    }

    private void applyReady(long lastEventId) {
        int applied = 0;
        while (applied < ready.size() && ready.get(applied).eventId() <= lastEventId) {
            HeldEvent each = ready.get(applied);
            if (isEarly(each)) {
                early.add(each);
            } else {
                apply(each);
            }
            applied++;
        }
        ready.subList(0, applied).clear();
    }

    /** Applies an event, and the events that have waited for the state that it delivers. */
    private void apply(HeldEvent event) {
        List<HeldEvent.Applied> changes = changes(event);
        early.forEach(due -> changes.addAll(changes(due)));
        early.clear();
        for (int i = 0; i < changes.size(); i++) {
            int index = i == changes.size() - 1 ? EventPlace.LAST : i;
            moments.accept(new Moment(
                    runId,
                    new EventPlace(event.eventId(), index),
                    taskStartedAt,
                    changes.get(i).fact(),
                    changes.get(i).state(),
                    changes.get(i).took()));
        }
    }

    /** Applies an event. Returns the facts that changed the state. */
    private List<HeldEvent.Applied> changes(HeldEvent event) {
        List<HeldEvent.Applied> changes = new ArrayList<>();
        for (HeldEvent.Applied each : event.applyTo(state, taskStartedAt)) {
            if (each.state() != state) {
                changes.add(each);
            }
            state = each.state();
        }
        return changes;
    }

    private void activityScheduled(long eventId, ActivityTaskScheduledEventAttributes scheduled) {
        if (arrival != null && arrival.begins(eventId, scheduled.getActivityType())) {
            return;
        }
        ActivityInput input = decode(
                scheduled.getInput(),
                ActivityInput.ofType(scheduled.getActivityType().getName()));
        begun(eventId, input.work());
        if (input instanceof ModelInput model) {
            atModelCall = state;
            checks.modelCalled(eventId, model, current());
        }
    }

    private void subagentStarted(long eventId, StartChildWorkflowExecutionInitiatedEventAttributes initiated) {
        begun(eventId, decode(initiated.getInput(), StartInput.class).work());
    }

    private void begun(long eventId, Work<?> work) {
        works.put(eventId, work);
        apply(eventId, work.begun());
    }

    /** Applies a signal that the thread sends: a report to its parent, or people's decisions to a subagent. */
    private void signalled(long eventId, SignalExternalWorkflowExecutionInitiatedEventAttributes signal) {
        apply(
                eventId,
                signal.getSignalName().equals(SignalNames.SUBAGENT)
                        ? decode(signal.getInput(), SubagentReport.class).sent()
                        : decode(signal.getInput(), PassedOnDecision.class).sent());
    }

    /** Applies an update. After a reset, only the admitted event contains its payload. */
    private void updateAccepted(long eventId, WorkflowExecutionUpdateAcceptedEventAttributes accepted) {
        Request request = accepted.hasAcceptedRequest()
                ? accepted.getAcceptedRequest()
                : admitted.get(accepted.getProtocolInstanceId());
        if (request == null) {
            throw new IllegalStateException("accepted update " + accepted.getProtocolInstanceId() + " has no request");
        }
        applyReady(accepted.getAcceptedRequestSequencingEventId());
        apply(
                eventId,
                InboundDecoder.readUpdate(
                        request.getInput().getName(), first(request.getInput().getArgs()), runId));
    }

    private void marker(long eventId, MarkerRecordedEventAttributes recorded) {
        Payloads data = recorded.getDetailsOrDefault("data", Payloads.getDefaultInstance());
        if (recorded.getMarkerName().equals("SideEffect") && data.getPayloadsCount() > 0) {
            decode(data, SideEffectMarker.class).fact().ifPresent(fact -> apply(eventId, fact));
        }
    }

    private void ended(RunEnding.Kind kind, String nextRunId) {
        ending = new RunEnding(kind, nextRunId.isEmpty() ? Optional.empty() : Optional.of(nextRunId));
    }

    /** Applies a fact that a workflow task itself caused. */
    private void apply(long eventId, Fact fact) {
        if (!commandsFollow) {
            throw new IllegalStateException("event " + eventId + " is not a command of a workflow task");
        }
        if (arrival != null && state == null) {
            early.add(HeldEvent.ofFacts(eventId, taskStartedAt, () -> only(fact)));
            return;
        }
        state = Rules.apply(current(), fact, taskStartedAt);
        moments.accept(new Moment(runId, eventId, taskStartedAt, Optional.of(fact), state));
    }

    private Conversation current() {
        if (state == null) {
            throw new IllegalStateException("the history does not begin with the start of a run");
        }
        return state;
    }

    private void workClosed(HistoryEvent event) {
        WorkClosing closing = WorkClosing.of(event, converter);
        if (arrival == null || !arrival.isOf(closing)) {
            hold(event, () -> closed(closing));
        } else {
            arrival.take(closing).ifPresent(carried -> begin(event, carried));
        }
    }

    private HeldEvent.Facts closed(WorkClosing closing) {
        Work<?> work = works.remove(closing.begunBy());
        if (work == null) {
            throw new IllegalStateException(
                    "event closes an activity or child workflow that was not scheduled: " + closing.begunBy());
        }
        return closing.result()
                .map(result -> completed(closing.begunBy(), work, result))
                .orElseGet(() -> only(work.failed(closing.failure().orElseThrow())));
    }

    private <T> T decode(Payloads payloads, Class<T> type) {
        T decoded = converter.fromPayloads(0, Optional.of(payloads), type, type);
        if (decoded == null) {
            throw new DataConverterException("missing " + type.getSimpleName());
        }
        return decoded;
    }

    /** An operator may complete an activity with any payload. The workflow treats an unreadable one as a failure. */
    private <R> HeldEvent.Facts completed(long begunBy, Work<R> work, Payloads encoded) {
        try {
            R result = decode(encoded, work.resultType());
            if (result instanceof AgentSpec resolved) {
                agent = resolved;
            }
            if (result instanceof ModelResult replied) {
                checks.replied(begunBy, replied.reply());
            }
            return new HeldEvent.Facts() {
                @Override
                public List<Fact> in(@Nullable Conversation before) {
                    return work.completed(result, Objects.requireNonNull(before, "no state awaits this work"));
                }

                @Override
                public Optional<Duration> took(Fact fact) {
                    return result instanceof ModelResult replied ? replied.took(fact) : Optional.empty();
                }
            };
        } catch (DataConverterException e) {
            return only(work.failed(e));
        }
    }

    private static @Nullable Payload first(Payloads payloads) {
        return payloads.getPayloadsCount() == 0 ? null : payloads.getPayloads(0);
    }

    private static Instant timeOf(HistoryEvent event) {
        long seconds = event.getEventTime().getSeconds();
        return Instant.ofEpochMilli(seconds * 1000 + event.getEventTime().getNanos() / 1_000_000);
    }

    /** The thread of these moments, whose newest run this projector has read so far. */
    Timeline timeline(String thread, List<Moment> moments, boolean cut) {
        Conversation now = expectedState()
                .orElseThrow(() -> new PreviousRunGoneException(awaited()
                        .map(CarriedReference::runId)
                        .or(this::continuedFrom)
                        .orElse("")));
        return new Timeline(thread, runId(), moments, now, agent(), ending(), lastEventId(), cut);
    }
}
