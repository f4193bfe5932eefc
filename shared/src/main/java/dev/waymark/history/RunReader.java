package dev.waymark.history;

import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.CarriedState;
import dev.waymark.contract.SuccessorMarker;
import dev.waymark.contract.TraceIds;
import dev.waymark.contract.work.ModelInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.value.Json;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Provides activities with the state of their own run, and caches it, so that the next activity of the run reads only
 * new events. A worker that takes over a run reads it from the start once. Thread-safe.
 */
public final class RunReader {
    private static final long MOST_BYTES = 128L * 1024 * 1024;
    private final HistoryReader histories;
    private final int mostRuns;
    /**
     * By workflow id, least recently used first. Each thread has one entry, for the run that was read last. Guarded by
     * itself.
     */
    private final Map<String, Known> runs = new LinkedHashMap<>(16, 0.75f, true);

    /** By workflow id, least recently used first. Each thread has one entry, for its newest run. Guarded by itself. */
    private final Map<String, Note> notes = new LinkedHashMap<>(16, 0.75f, true);

    /** By run id, least recently used first. Guarded by itself. */
    private final Map<String, Boolean> resets = new LinkedHashMap<>(16, 0.75f, true);

    /**
     * @param mostRuns the maximum number of cached runs; fewer are cached if they are large, and the least recently
     *     used are dropped
     */
    public RunReader(HistoryReader histories, int mostRuns) {
        this.histories = histories;
        this.mostRuns = mostRuns;
    }

    /** The state in which a model call was scheduled, the agent, and the ids of the thread's spans. */
    public record Called(Conversation state, AgentSpec agent, TraceIds traceIds) {
        private boolean isFor(ModelInput call) {
            return state.counters().steps() == call.step() && call.isOf(state.transcript());
        }

        private long bytes() {
            return state.transcript().bytes();
        }
    }

    /** A model call that {@link #note} has cached for a run. */
    private record Note(String runId, Called called) {
        private long bytes() {
            return called.bytes();
        }
    }

    /**
     * Caches a model call that a workflow of this process is about to schedule, so that its activity reads nothing if
     * it runs in this process too. The activity uses the cached state only if its digest matches, so a missing or
     * outdated state costs at most one read.
     */
    public void note(String workflowId, String runId, Called called) {
        synchronized (runs) {
            // The thread has continued in this run. Keeping earlier runs of a long thread would fill the memory.
            runs.computeIfPresent(workflowId, (thread, known) -> known.runId.equals(runId) ? known : null);
        }
        synchronized (notes) {
            notes.put(workflowId, new Note(runId, called));
            long bytes = notes.values().stream().mapToLong(Note::bytes).sum();
            Iterator<Note> eldestFirst = notes.values().iterator();
            while (notes.size() > 1 && (bytes > MOST_BYTES || notes.size() > mostRuns)) {
                bytes -= eldestFirst.next().bytes();
                eldestFirst.remove();
            }
        }
    }

    /** The state in which this model call, the newest of its run, was scheduled, with the recorded agent. */
    public Called atModelCall(String workflowId, String runId, ModelInput call) {
        return noted(workflowId, runId)
                .filter(called -> called.isFor(call))
                .orElseGet(() -> atModelCall(workflowId, runId));
    }

    private Optional<Called> noted(String workflowId, String runId) {
        synchronized (notes) {
            return Optional.ofNullable(notes.get(workflowId))
                    .filter(note -> note.runId().equals(runId))
                    .map(Note::called);
        }
    }

    /** The state in which the newest model call of this run was scheduled, with the recorded agent. */
    public Called atModelCall(String workflowId, String runId) {
        return read(workflowId, runId, projector -> {
            histories.catchUp(workflowId, projector);
            Conversation state =
                    projector.atModelCall().orElseThrow(() -> new IllegalStateException("the run has called no model"));
            return new Called(state, agentOf(projector), projector.traceIds());
        });
    }

    /** The state with which this run ended, for the run that continues it. */
    public CarriedState atEnd(String workflowId, String runId) {
        return read(workflowId, runId, projector -> {
            histories.catchUp(workflowId, projector);
            Conversation state = projector
                    .state()
                    .orElseThrow(() -> new IllegalStateException("the history has no start of the run yet"));
            return new CarriedState(state, projector.agent());
        });
    }

    /** Data of this run that no later event changes, so it is read only once. */
    public Setting setting(String workflowId, String runId) {
        return noted(workflowId, runId)
                .map(called -> Setting.of(called.agent(), called.state(), called.traceIds()))
                .orElseGet(() -> readSetting(workflowId, runId));
    }

    private Setting readSetting(String workflowId, String runId) {
        return read(workflowId, runId, projector -> {
            if (projector.agent().isEmpty()) {
                histories.catchUp(workflowId, projector);
            }
            Conversation state = projector
                    .state()
                    .orElseThrow(() -> new IllegalStateException("the history has no start of the run yet"));
            return Setting.of(agentOf(projector), state, projector.traceIds());
        });
    }

    /**
     * The thread that continues this run's thread, if this thread was closed and resumed before a reset reopened it.
     * Both threads then have the same open calls, and only the continuing thread may execute them.
     */
    public Optional<String> continuedAs(String workflowId, String runId) {
        return isReset(workflowId, runId)
                ? histories.continuedAs(SuccessorMarker.idOfRun(histories.firstRunId(workflowId, runId)))
                : Optional.empty();
    }

    /** Like {@link #continuedAs}, for the parent thread of this run, if it has one. */
    public Optional<String> parentContinuedAs(String workflowId, String runId) {
        return histories
                .parent(workflowId, runId)
                .flatMap(parent -> continuedAs(parent.getWorkflowId(), parent.getRunId()));
    }

    /**
     * Whether an earlier thread with this name may have executed the call of this run, before a reset of the parent
     * thread.
     */
    public boolean wasBegunBefore(String workflowId, String runId) {
        return histories.wasBegunBefore(workflowId, runId);
    }

    /** Whether a reset created this run. Cached, since this never changes. */
    private boolean isReset(String workflowId, String runId) {
        synchronized (resets) {
            Boolean known = resets.get(runId);
            if (known != null) {
                return known;
            }
        }
        boolean reset = histories.isReset(workflowId, runId);
        synchronized (resets) {
            resets.put(runId, reset);
            resets.keySet().removeIf(eldest -> resets.size() > mostRuns);
        }
        return reset;
    }

    /** The agent, and the data that its tools get in addition to their arguments. */
    public record Setting(AgentSpec agent, Json context, TraceIds traceIds) {
        static Setting of(AgentSpec agent, Conversation state, TraceIds traceIds) {
            return new Setting(agent, state.context().orElse(Json.EMPTY_OBJECT), traceIds);
        }
    }

    private static AgentSpec agentOf(Projector projector) {
        return projector.agent().orElseThrow(() -> new IllegalStateException("the run has no agent yet"));
    }

    /**
     * Admits one reader of a run at a time, and drops what is cached for another run of the thread. After a failure,
     * the run is dropped, since its projection may be incomplete.
     */
    private <T> T read(String workflowId, String runId, Function<Projector, T> reader) {
        Known known;
        synchronized (runs) {
            Known cached = runs.get(workflowId);
            known = cached != null && cached.runId.equals(runId) ? cached : new Known(runId);
            runs.put(workflowId, known);
        }
        boolean done = false;
        try {
            synchronized (known.projector) {
                T result = reader.apply(known.projector);
                known.bytes = known.projector
                        .state()
                        .map(state -> state.transcript().bytes())
                        .orElse(0L);
                done = true;
                return result;
            }
        } finally {
            synchronized (runs) {
                if (done) {
                    forgetEldest();
                } else {
                    runs.remove(workflowId, known);
                }
            }
        }
    }

    private void forgetEldest() {
        long bytes = runs.values().stream().mapToLong(known -> known.bytes).sum();
        Iterator<Known> eldestFirst = runs.values().iterator();
        while (runs.size() > 1 && (bytes > MOST_BYTES || runs.size() > mostRuns)) {
            bytes -= eldestFirst.next().bytes;
            eldestFirst.remove();
        }
    }

    private static final class Known {
        private final String runId;
        private final Projector projector;
        /** The size of the conversation when the run was last read. */
        private volatile long bytes;

        Known(String runId) {
            this.runId = runId;
            this.projector = new Projector(runId, moment -> {});
        }
    }
}
