package dev.waymark.conversation.state;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.conversation.call.AbandonedTask;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.EffectLog;
import dev.waymark.conversation.call.LongResult;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.value.PersistentMap;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The calls of the thread by id, and the records about them.
 *
 * @param batch the ids of the newest reply's calls, in the model's order
 * @param effects the record of side effects, if there are any
 * @param workspace the agent's data besides the transcript
 * @param dropped the turns of the calls that a summary dropped, by call id, if there are any. Their ids stay used.
 * @param abandoned the servers' tasks that must be cancelled, by call id, if there are any
 * @param grants the approvals that also let later calls run, if there were any
 * @param longResults the whole results of which the model was shown a part, oldest first
 */
public record CallBook(
        List<String> batch,
        PersistentMap<Call> calls,
        Optional<EffectLog> effects,
        Optional<Workspace> workspace,
        Optional<PersistentMap<Integer>> dropped,
        Optional<PersistentMap<AbandonedTask>> abandoned,
        Optional<Grants> grants,
        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<LongResult> longResults) {
    public static final CallBook EMPTY = new CallBook(
            List.of(),
            PersistentMap.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            List.of());

    public CallBook {
        Objects.requireNonNull(calls, "calls");
        batch = List.copyOf(batch);
        longResults = longResults == null ? List.of() : List.copyOf(longResults);
    }

    /** The number of calls that a summary dropped. */
    public int countDropped() {
        return dropped.map(PersistentMap::size).orElse(0);
    }

    /** The number of this turn's calls that a summary dropped. All of them had ended. */
    public int countDropped(int turn) {
        int[] count = {0};
        dropped.ifPresent(turns -> turns.forEach((id, each) -> count[0] += each == turn ? 1 : 0));
        return count[0];
    }

    /** The servers' tasks to cancel, in the order in which they were given up. */
    @JsonIgnore
    public List<AbandonedTask> tasksToCancel() {
        List<AbandonedTask> tasks = new ArrayList<>();
        abandoned.ifPresent(known -> known.forEach((id, task) -> tasks.add(task)));
        return tasks;
    }

    @JsonIgnore
    public List<Call> batchCalls() {
        return batch.stream().map(id -> calls.get(id).orElseThrow()).toList();
    }

    @JsonIgnore
    public List<Call> openCalls() {
        return open(batch, calls);
    }

    /** Allocates nothing if there are no calls, since this runs several times per fact. */
    private static List<Call> open(List<String> ids, PersistentMap<Call> calls) {
        if (ids.isEmpty()) {
            return List.of();
        }
        List<Call> open = new ArrayList<>(ids.size());
        for (String id : ids) {
            Call call = calls.get(id).orElseThrow();
            if (call.isOpen()) {
                open.add(call);
            }
        }
        return Collections.unmodifiableList(open);
    }

    /** The requests that wait for a person, of this thread and its subagents, in call order. */
    public List<PendingItem> asks(AgentBinding binding) {
        List<PendingItem> asks = new ArrayList<>();
        for (Call call : openCalls()) {
            if (call.status() == Call.Status.DELEGATED) {
                call.subagent().orElseThrow().asks().forEach(ask -> asks.add(ask.below(call.id())));
            } else if (call.waitsForPerson()) {
                asks.add(call.request(binding.policy()));
            }
        }
        return Collections.unmodifiableList(asks);
    }

    /** The subagent call whose id is the first part of this path. */
    public Optional<Call> above(String callId) {
        int slash = callId.indexOf('/');
        return slash < 0
                ? Optional.empty()
                : calls.get(callId.substring(0, slash))
                        .filter(call -> call.subagent().isPresent());
    }

    /** The record of the call's side effect. */
    public EffectLog.Effect effectOf(Call call) {
        return effects.orElse(EffectLog.NONE).of(effectKey(call));
    }

    public static String effectKey(Call call) {
        return EffectLog.key(call.tool(), call.argsDigest());
    }

    /** A mutable copy of this part, for applying a fact. */
    public final class Edit {
        public List<String> batch = CallBook.this.batch;
        public PersistentMap<Call> calls = CallBook.this.calls;
        public EffectLog effects = CallBook.this.effects.orElse(EffectLog.NONE);
        public Workspace workspace = CallBook.this.workspace.orElse(Workspace.EMPTY);
        public Grants grants = CallBook.this.grants.orElse(Grants.NONE);
        public List<LongResult> longResults = CallBook.this.longResults;
        private final PersistentMap<Integer> droppedBefore = CallBook.this.dropped.orElse(PersistentMap.empty());
        private PersistentMap<Integer> dropped = droppedBefore;
        private final PersistentMap<AbandonedTask> abandonedBefore =
                CallBook.this.abandoned.orElse(PersistentMap.empty());
        private PersistentMap<AbandonedTask> abandoned = abandonedBefore;
        private Optional<OpenCalls> open = Optional.empty();

        /** The open calls among these, cached because the rules need them several times per fact. */
        private record OpenCalls(List<String> batch, PersistentMap<Call> calls, List<Call> open) {}

        /** Returns the call with this id, which must exist. */
        public Call call(String id) {
            return calls.get(id).orElseThrow();
        }

        public List<Call> openCalls() {
            OpenCalls known = open.filter(each -> each.batch() == batch && each.calls() == calls)
                    .orElseGet(() -> new OpenCalls(batch, calls, open(batch, calls)));
            open = Optional.of(known);
            return known.open();
        }

        public void put(Call call) {
            calls = calls.with(call.id(), call);
        }

        /** The call, if the thread waits for this dispatch. */
        public Optional<Call> running(String callId, int dispatch) {
            return calls.get(callId)
                    .filter(call -> call.status() == Call.Status.DISPATCHED
                            || call.status() == Call.Status.CLAIMED
                            || call.status() == Call.Status.FOLLOWING)
                    .filter(call -> call.dispatches() == dispatch);
        }

        /** Schedules the cancellation of the task of the call's server. */
        public void abandon(Call call, String task) {
            abandoned = abandoned.with(call.id(), new AbandonedTask(call.id(), call.tool(), task));
        }

        public void taken(String callId) {
            abandoned = abandoned.without(callId);
        }

        /** Drops a call that has ended. Its id stays used. */
        public void drop(Call call) {
            calls = calls.without(call.id());
            dropped = dropped.with(call.id(), call.turn());
        }

        /** Records a call of an imported conversation, which may have the id of a call that a summary dropped. */
        public void putForeign(Call call) {
            dropped = dropped.without(call.id());
            put(call);
        }

        /** Whether a call of the thread has, or had, this id. */
        public boolean isUsed(String id) {
            return calls.contains(id) || dropped.contains(id);
        }

        public EffectLog.Effect effectOf(Call call) {
            return effects.of(effectKey(call));
        }

        public void put(Call call, EffectLog.Effect effect) {
            effects = effects.with(effectKey(call), effect);
        }

        /** Returns the original object if nothing was changed, so that the versions in a timeline share it. */
        public CallBook done() {
            boolean isUnchanged = batch == CallBook.this.batch
                    && calls == CallBook.this.calls
                    && effects == CallBook.this.effects.orElse(EffectLog.NONE)
                    && workspace == CallBook.this.workspace.orElse(Workspace.EMPTY)
                    && dropped == droppedBefore
                    && abandoned == abandonedBefore
                    && grants == CallBook.this.grants.orElse(Grants.NONE)
                    && longResults == CallBook.this.longResults;
            if (isUnchanged) {
                return CallBook.this;
            }
            return new CallBook(
                    batch,
                    calls,
                    effects.isEmpty() ? Optional.empty() : Optional.of(effects),
                    workspace.isEmpty() ? Optional.empty() : Optional.of(workspace),
                    dropped.size() == 0 ? Optional.empty() : Optional.of(dropped),
                    abandoned.size() == 0 ? Optional.empty() : Optional.of(abandoned),
                    grants.isEmpty() ? Optional.empty() : Optional.of(grants),
                    longResults);
        }
    }
}
