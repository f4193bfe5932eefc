package dev.waymark.server.api;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SubagentFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Spent;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;

/**
 * How a thread got its messages: the duration and cost of each model call, tool call and turn, and the place before
 * each message of a person, where a fork without that message begins. Read from the runs that are still in history.
 */
public final class ThreadCourse {
    /** The place before the message that started the thread: the number of the version before that message. */
    private static final String START = "0";

    /** For each queued message, the place before its arrival; empty if it was queued when the thread began. */
    private final Queue<Optional<String>> queuedPlaces = new ArrayDeque<>();

    private final Map<String, String> placesBefore = new HashMap<>();
    private final Map<String, ModelCall> modelCalls = new HashMap<>();
    private final Map<String, Instant> toolStarts = new HashMap<>();
    private final List<TurnSpan> turns = new ArrayList<>();
    private final List<String> changedCalls = new ArrayList<>();
    private Optional<Spent> inherited = Optional.empty();

    private ThreadCourse() {}

    /** The model call that made a message. */
    private record ModelCall(Duration took, Spent spent) {}

    /** A turn, up to its newest moment. The last message is the newest message of the thread at that moment. */
    private record TurnSpan(Turn turn, Instant until, Spent spentBefore, Spent spent, Optional<String> lastMessage) {}

    public static ThreadCourse of(Timeline timeline) {
        ThreadCourse course = new ThreadCourse();
        Instant modelCalledAt = Instant.EPOCH;
        Optional<String> place = Optional.empty();
        Optional<Moment> last = Optional.empty();
        for (Moment moment : timeline.moments()) {
            if (last.isPresent() && !isSameEvent(last.get(), moment)) {
                place = last.map(Moment::address);
            }
            Optional<Fact> fact = moment.fact();
            if (fact.filter(ModelFact.ModelCalled.class::isInstance).isPresent()) {
                modelCalledAt = moment.at();
            }
            if (last.isEmpty() && fact.isEmpty() && !timeline.cut()) {
                course.inherited = Optional.of(moment.state().spent());
            }
            Spent before = last.orElse(moment).state().spent();
            course.noteMessages(
                    last,
                    moment,
                    place,
                    new ModelCall(
                            Duration.between(modelCalledAt, moment.at()),
                            moment.state().spent().minus(before)));
            course.noteToolStart(fact, moment.at());
            last.ifPresent(earlier -> course.noteChange(earlier, moment));
            course.noteTurn(moment, before);
            last = Optional.of(moment);
        }
        return course;
    }

    private static boolean isSameEvent(Moment one, Moment other) {
        return one.runId().equals(other.runId()) && one.eventId() == other.eventId();
    }

    /** Messages of people wait in a queue, in order, before they enter the transcript with a model call. */
    private void noteMessages(Optional<Moment> last, Moment moment, Optional<String> place, ModelCall call) {
        int queuedBefore = last.map(earlier -> earlier.state().queue().size()).orElse(0);
        int queued = moment.state().queue().size();
        Optional<String> arrival =
                moment.fact().filter(PersonFact.UserSpoke.class::isInstance).map(spoke -> place.orElse(START));
        for (int i = queuedBefore; i < queued; i++) {
            queuedPlaces.add(arrival);
        }
        Transcript transcript = moment.state().transcript();
        int more = transcript.count()
                - last.map(earlier -> earlier.state().transcript().count()).orElse(0);
        int taken = queuedBefore - queued;
        for (Transcript.Entry entry : transcript.entries().tail(Math.max(0, more))) {
            if (entry.message().role() == Role.ASSISTANT) {
                moment.fact()
                        .filter(ModelFact.ModelReplied.class::isInstance)
                        .ifPresent(reply -> modelCalls.put(entry.id(), call));
            } else if (taken > 0 && entry.message().toolResults().isEmpty()) {
                queuedPlaces.remove().ifPresent(before -> placesBefore.put(entry.id(), before));
                taken--;
            }
        }
        // Messages that were merged with others, or discarded.
        while (queuedPlaces.size() > queued) {
            queuedPlaces.remove();
        }
    }

    private void noteToolStart(Optional<Fact> fact, Instant at) {
        fact.ifPresent(known -> {
            if (known instanceof ToolFact.ToolDispatched dispatched) {
                toolStarts.putIfAbsent(dispatched.callId(), at);
            } else if (known instanceof SubagentFact.SubagentStarted started) {
                toolStarts.putIfAbsent(started.callId(), at);
            }
        });
    }

    /** Decisions about a subagent's calls pass through this thread, which then no longer waits for them. */
    private void noteChange(Moment before, Moment moment) {
        Optional<Json> args = moment.fact()
                .filter(PersonFact.ApprovalDecided.class::isInstance)
                .flatMap(decided -> ((PersonFact.ApprovalDecided) decided).args());
        if (args.isEmpty()) {
            return;
        }
        List<String> waiting =
                moment.state().pending("").stream().map(PendingItem::callId).toList();
        before.state().pending("").stream()
                .filter(ask -> !waiting.contains(ask.callId()) && !args.equals(ask.args()))
                .forEach(ask -> changedCalls.add(ask.callId()));
    }

    private void noteTurn(Moment moment, Spent before) {
        Turn turn = moment.state().turn();
        Optional<TurnSpan> newest = turns.isEmpty() ? Optional.empty() : Optional.of(turns.get(turns.size() - 1));
        Optional<TurnSpan> same = newest.filter(span -> span.turn().number() == turn.number());
        boolean isOver = same.filter(span -> !span.turn().isRunning() && !turn.isRunning())
                .isPresent();
        // The state that the thread began with has a turn that is over.
        boolean isInherited = same.isEmpty() && moment.fact().isEmpty() && !turn.isRunning();
        if (turn.number() == 0 || isOver || isInherited) {
            return;
        }
        same.ifPresent(turns::remove);
        turns.add(new TurnSpan(
                turn,
                moment.at(),
                same.map(TurnSpan::spentBefore).orElse(before),
                moment.state().spent(),
                moment.state().transcript().entries().last().map(Transcript.Entry::id)));
    }

    /** The place before this message of a person: an event, or {@link #START}. Empty if no fork can begin there. */
    public Optional<String> placeBefore(Transcript.Entry message) {
        return Optional.ofNullable(placesBefore.get(message.id()));
    }

    /** When the call was first handed to a worker or a subagent. */
    Optional<Instant> startOf(String callId) {
        return Optional.ofNullable(toolStarts.get(callId));
    }

    /** What had been spent in the state that this thread began with; empty if it began without a state. */
    Optional<Spent> inherited() {
        return inherited;
    }

    /** The calls that people approved with other arguments, in this subagent's thread and those below it. */
    List<String> changedCalls(String subagentCall) {
        String prefix = subagentCall + "/";
        return changedCalls.stream()
                .filter(id -> id.startsWith(prefix))
                .map(id -> id.substring(prefix.length()))
                .toList();
    }

    /** Adds an entry for each message of the transcript, and the turns. */
    void addTo(ObjectNode document, Transcript transcript) {
        ArrayNode messages = document.putArray("course");
        Map<String, Integer> indexes = new HashMap<>();
        for (Transcript.Entry entry : transcript.entries().toList()) {
            indexes.put(entry.id(), messages.size());
            ObjectNode row = messages.addObject();
            row.put("at", entry.at().toString());
            Optional.ofNullable(placesBefore.get(entry.id())).ifPresent(place -> row.put("before", place));
            Optional.ofNullable(modelCalls.get(entry.id())).ifPresent(call -> {
                row.put("tookMillis", call.took().toMillis());
                addSpent(row, call.spent());
            });
        }
        ArrayNode rows = document.putArray("turns");
        for (TurnSpan span : turns) {
            ObjectNode row = rows.addObject();
            row.put("turn", span.turn().number());
            row.put("startedAt", span.turn().startedAt().toString());
            if (!span.turn().isRunning()) {
                row.put("endedAt", span.until().toString());
            }
            addSpent(row, span.spent().minus(span.spentBefore()));
            span.lastMessage().map(indexes::get).ifPresent(index -> row.put("lastMessage", index));
        }
    }

    static void addSpent(ObjectNode row, Spent spent) {
        row.set("usage", JsonDocuments.usage(spent.usage()));
        spent.cost().ifPresent(cost -> row.put("costUsd", cost.dollars()));
    }
}
