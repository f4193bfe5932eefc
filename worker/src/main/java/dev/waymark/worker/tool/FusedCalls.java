package dev.waymark.worker.tool;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.connect.DaemonThreads;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.work.ModelResult;
import dev.waymark.contract.work.PartialReply.RunningCall;
import dev.waymark.contract.work.ToolInput;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.value.Json;
import dev.waymark.history.RunReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * Runs the calls of a reply in the activity that got the reply: all of them or none, once, at the same time. A call
 * without an outcome is dispatched to a separate activity, which repeats it, so failures here do no harm. Thread-safe.
 */
public final class FusedCalls {
    private static final Logger LOG = LoggerFactory.getLogger(FusedCalls.class);

    /** The maximum size of all outcomes as JSON. With the reply, a result stays far below Temporal's limit of 2 MiB. */
    private static final int MOST_BYTES = 512 * 1024;

    private final ToolRunner tools;
    private final ExecutorService threads = Executors.newCachedThreadPool(DaemonThreads.named("calls of a reply"));

    public FusedCalls(ToolRunner tools) {
        this.tools = tools;
    }

    /** Why these arguments do not fit the tool, as recorded and in this worker, for the model; empty if they do. */
    public Optional<String> misfit(AgentSpec agent, ToolSpec tool, Json args) {
        return tools.in(agent).misfit(tool, args);
    }

    /**
     * Prepares the calls of the newest reply. Returns empty if they are not all safe to retry, short and ready in this
     * worker, or if one of them would have to wait for a slot.
     *
     * @param called the model call
     * @param state the state after the reply
     * @param left the time that the activity still has
     */
    public Optional<Batch> prepare(String thread, RunReader.Called called, Conversation state, Duration left) {
        AgentSpec agent = called.agent();
        ToolRunner own = tools.in(agent);
        List<DispatchedCall> calls = new ArrayList<>();
        for (Step.RunTool run : Rules.callsToRunWithReply(state)) {
            Optional<ToolSpec> tool =
                    agent.tool(run.call().tool()).filter(found -> isShort(agent, found, left) && own.isReady(found));
            if (tool.isEmpty()) {
                return Optional.empty();
            }
            ToolInput input = new ToolInput(run.call().id(), 1, run.call().args(), state.session(), Optional.empty());
            Json context = state.context().orElse(Json.EMPTY_OBJECT);
            calls.add(DispatchedCall.of(tool.get(), input, thread, context, called.traceIds()));
        }
        return calls.isEmpty()
                ? Optional.empty()
                : slots(thread, calls).map(slots -> {
                    List<Execution> executions = new ArrayList<>();
                    for (int i = 0; i < slots.size(); i++) {
                        executions.add(new Execution(agent, calls.get(i), slots.get(i)));
                    }
                    return new Batch(executions);
                });
    }

    private boolean isShort(AgentSpec agent, ToolSpec tool, Duration left) {
        return tool.timeout().plus(ToolActivity.CLEANUP).compareTo(left) < 0
                && !tools.wasSlowerThan(agent.fuseLimit(), agent, tool);
    }

    /** A slot for each call; empty, and no slot taken, if one of the calls would have to wait. */
    private Optional<List<ToolSlots.Slot>> slots(String thread, List<DispatchedCall> calls) {
        List<ToolSlots.Slot> slots = new ArrayList<>();
        for (DispatchedCall call : calls) {
            Optional<ToolSlots.Slot> slot = tools.slotNow(call.tool(), thread);
            if (slot.isEmpty()) {
                slots.forEach(ToolSlots.Slot::close);
                return Optional.empty();
            }
            slots.add(slot.get());
        }
        return Optional.of(slots);
    }

    /** One execution of a call. It holds a slot until it has ended, or can no longer begin. */
    private final class Execution implements Callable<ToolOutcome> {
        private final AgentSpec agent;
        private final DispatchedCall call;
        private final ToolSlots.Slot slot;
        private final @Nullable Map<String, String> log = MDC.getCopyOfContextMap();
        private final AtomicBoolean slotIsTaken = new AtomicBoolean();
        private final FutureTask<ToolOutcome> future = new FutureTask<>(this);
        private volatile long tookMillis;
        private volatile Consumer<RunningCall> ended = call -> {};

        private Execution(AgentSpec agent, DispatchedCall call, ToolSlots.Slot slot) {
            this.agent = agent;
            this.call = call;
            this.slot = slot;
        }

        @Override
        public ToolOutcome call() throws InterruptedException {
            if (!slotIsTaken.compareAndSet(false, true)) {
                throw new InterruptedException("ended before it began");
            }
            long began = System.nanoTime();
            try (slot) {
                if (log != null) {
                    MDC.setContextMap(log);
                }
                return tools.in(agent).runSafe(agent, call, future::isCancelled);
            } finally {
                MDC.clear();
                tookMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
                ended.accept(running());
            }
        }

        private RunningCall running() {
            return new RunningCall(call.input().callId(), call.tool().name());
        }

        /** Interrupts the tool if it still runs. */
        private void end() {
            future.cancel(true);
            if (slotIsTaken.compareAndSet(false, true)) {
                slot.close();
            }
        }

        /** Waits for the outcome until this time; empty if there is none that counts. */
        private Optional<ModelResult.Ran> outcome(long untilNanos) throws InterruptedException {
            try {
                ToolOutcome outcome = future.get(Math.max(0, untilNanos - System.nanoTime()), TimeUnit.NANOSECONDS);
                return outcome.notStarted().isPresent()
                        ? Optional.empty()
                        : Optional.of(new ModelResult.Ran(call.input().callId(), outcome, (int) tookMillis));
            } catch (ExecutionException | TimeoutException e) {
                LOG.debug(
                        "call {} has no outcome and is dispatched again",
                        call.input().callId(),
                        e);
                return Optional.empty();
            }
        }
    }

    /** Calls that hold their slots. Run them once. */
    public final class Batch {
        private final List<Execution> calls;

        private Batch(List<Execution> calls) {
            this.calls = calls;
        }

        /** The calls, in the order of the reply. */
        public List<RunningCall> calls() {
            return calls.stream().map(Execution::running).toList();
        }

        /**
         * Runs the calls, each for at most its tool's time limit. If the current thread is interrupted, so are the
         * tools, and calls that have not ended have no outcome. The interruption is not passed on, because the reply
         * has arrived and completes the activity.
         *
         * @param ended told of each call that has ended, in the thread that ran it
         * @return the outcomes, in the order of the calls
         */
        public List<ModelResult.Ran> run(Consumer<RunningCall> ended) {
            List<ModelResult.Ran> outcomes = new ArrayList<>();
            try {
                for (Execution each : calls) {
                    each.ended = ended;
                    threads.execute(each.future);
                }
                long began = System.nanoTime();
                int bytes = 0;
                for (Execution each : calls) {
                    Optional<ModelResult.Ran> ran =
                            each.outcome(began + each.call.most().toNanos());
                    int size = ran.map(FusedCalls::sizeOf).orElse(0);
                    if (size <= MOST_BYTES - bytes) {
                        bytes += size;
                        ran.ifPresent(outcomes::add);
                    }
                }
            } catch (InterruptedException | OutOfMemoryError e) { // Error: no more threads.
                LOG.debug("calls of a reply were ended, and those without an outcome are dispatched again", e);
            } finally {
                calls.forEach(Execution::end);
            }
            return outcomes;
        }
    }

    private static int sizeOf(ModelResult.Ran ran) {
        try {
            return PayloadJson.MAPPER.writeValueAsBytes(ran).length;
        } catch (JsonProcessingException e) {
            return Integer.MAX_VALUE; // Too large, because it cannot be recorded.
        }
    }
}
