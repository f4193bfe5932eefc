package dev.waymark.history;

import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.ContinuationMarker;
import dev.waymark.contract.ModelInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.value.Json;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Gives activities what their own run has come to, and remembers it, so that the next activity of the run reads only
 * what is new since. A worker that takes a run over in the middle reads it once from the start. Thread-safe.
 */
public final class RunReader {
    private static final long MOST_BYTES = 128L * 1024 * 1024;
    private static final int MOST_RUNS = 1_000;

    private final HistoryReader histories;
    /** By run id, the one that was asked for longest ago first. Guarded by itself. */
    private final Map<String, Known> runs = new LinkedHashMap<>(16, 0.75f, true);

    /** By run id, the one that was noted longest ago first. Guarded by itself. */
    private final Map<String, Called> notes = new LinkedHashMap<>(16, 0.75f, true);

    /** By run id, the one that was asked for longest ago first. Guarded by itself. */
    private final Map<String, Boolean> resets = new LinkedHashMap<>(16, 0.75f, true);

    public RunReader(HistoryReader histories) {
        this.histories = histories;
    }

    /** A model call, as its run's history has it. */
    public record Called(Conversation state, AgentSpec agent) {
        private boolean isFor(ModelInput call) {
            return state.counters().steps() == call.step() && call.isOf(state.transcript());
        }

        private long bytes() {
            return state.transcript().bytes();
        }
    }

    /**
     * Takes note of a model call that a workflow of this process is about to schedule. If its activity comes to this
     * process too, nothing has to be read. The digest in the activity's input decides whether a note is used, so one that
     * is missing or outdated costs a read and nothing else.
     */
    public void note(String runId, Called called) {
        synchronized (notes) {
            notes.put(runId, called);
            long bytes = notes.values().stream().mapToLong(Called::bytes).sum();
            Iterator<Called> eldestFirst = notes.values().iterator();
            while (notes.size() > 1 && (bytes > MOST_BYTES || notes.size() > MOST_RUNS)) {
                bytes -= eldestFirst.next().bytes();
                eldestFirst.remove();
            }
        }
    }

    /** The state in which this model call, the newest of its run, was scheduled, with the agent as recorded. */
    public Called atModelCall(String workflowId, String runId, ModelInput call) {
        return noted(runId).filter(called -> called.isFor(call)).orElseGet(() -> atModelCall(workflowId, runId));
    }

    private Optional<Called> noted(String runId) {
        synchronized (notes) {
            return Optional.ofNullable(notes.get(runId));
        }
    }

    /** The state in which the newest model call of this run was scheduled, with the agent as recorded. */
    public Called atModelCall(String workflowId, String runId) {
        return read(runId, projector -> {
            histories.catchUp(workflowId, projector);
            Conversation state =
                    projector.atModelCall().orElseThrow(() -> new IllegalStateException("the run has called no model"));
            return new Called(state, agentOf(projector));
        });
    }

    /** What this run's history records of its agent and context. Once known it never changes, and costs nothing. */
    public Setting setting(String workflowId, String runId) {
        return noted(runId)
                .map(called -> Setting.of(called.agent(), called.state()))
                .orElseGet(() -> readSetting(workflowId, runId));
    }

    private Setting readSetting(String workflowId, String runId) {
        return read(runId, projector -> {
            if (projector.agent().isEmpty()) {
                histories.catchUp(workflowId, projector);
            }
            Conversation state =
                    projector.state().orElseThrow(() -> new IllegalStateException("the run has not begun yet"));
            return Setting.of(agentOf(projector), state);
        });
    }

    /**
     * The thread that goes on with the thread of this run, if that was closed and resumed before a reset opened it again.
     * Both have the same open calls then, and only the other one may make them.
     */
    public Optional<String> continuedAs(String workflowId, String runId) {
        return isReset(workflowId, runId)
                ? histories.continuedAs(ContinuationMarker.idOfRun(histories.firstRunId(workflowId, runId)))
                : Optional.empty();
    }

    /** As {@link #continuedAs}, of the thread that started this one as its subagent's, if one did. */
    public Optional<String> parentContinuedAs(String workflowId, String runId) {
        return histories
                .parent(workflowId, runId)
                .flatMap(parent -> continuedAs(parent.getWorkflowId(), parent.getRunId()));
    }

    /** Whether this run carries out a call that a thread of its name had before a reset of the thread above. */
    public boolean wasBegunBefore(String workflowId, String runId) {
        return histories.wasBegunBefore(workflowId, runId);
    }

    /** It never changes, so it is asked once for a run. */
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
            resets.keySet().removeIf(eldest -> resets.size() > MOST_RUNS);
        }
        return reset;
    }

    /** What tools are told of the thread beside their call. */
    public record Setting(AgentSpec agent, Json context) {
        static Setting of(AgentSpec agent, Conversation state) {
            return new Setting(agent, state.context().orElse(Json.EMPTY_OBJECT));
        }
    }

    private static AgentSpec agentOf(Projector projector) {
        return projector.agent().orElseThrow(() -> new IllegalStateException("the run has no agent yet"));
    }

    /** One reader of a run at a time. After a failure the run is forgotten, since its projection may be half done. */
    private <T> T read(String runId, Function<Projector, T> reader) {
        Known known;
        synchronized (runs) {
            known = runs.computeIfAbsent(runId, Known::new);
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
                    runs.remove(runId, known);
                }
            }
        }
    }

    private void forgetEldest() {
        long bytes = runs.values().stream().mapToLong(known -> known.bytes).sum();
        Iterator<Known> eldestFirst = runs.values().iterator();
        while (runs.size() > 1 && (bytes > MOST_BYTES || runs.size() > MOST_RUNS)) {
            bytes -= eldestFirst.next().bytes;
            eldestFirst.remove();
        }
    }

    private static final class Known {
        private final Projector projector;
        /** How large the conversation was when it was last read. */
        private volatile long bytes;

        Known(String runId) {
            this.projector = new Projector(runId, moment -> {});
        }
    }
}
