package dev.waymark.worker.tool.kind;

import dev.waymark.agent.ToolImplementation;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.contract.work.VerifyOutcome;
import dev.waymark.conversation.call.Suspension;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlValue;
import java.util.Optional;

/**
 * A kind of tool that activities run: how agent files declare it, how its arguments are checked, and how it is run and
 * verified. Thread-safe.
 *
 * @param <T> the data that only tools of this kind have
 */
public interface ToolKind<T extends ToolImplementation> extends AutoCloseable {
    /**
     * The field that marks an entry of {@code tools} in an agent file as this kind, such as {@code command}. Empty for
     * kinds whose tools are not declared one by one.
     */
    default Optional<String> field() {
        return Optional.empty();
    }

    /**
     * Reads {@link #field()} and the other fields that only this kind has. The caller reads the common fields, such as
     * {@code timeout}.
     */
    default ToolSpec.Builder read(YamlValue value, ToolEntry entry) throws YamlProblem {
        throw new IllegalStateException(
                "agent files cannot declare tools of this kind: " + getClass().getSimpleName());
    }

    /**
     * Why arguments that match the recorded schema do not fit what would run in this worker, for the model; empty if
     * they do, or if this worker can't tell.
     */
    default Optional<String> misfit(T implementation, ToolSpec tool, Json args) {
        return Optional.empty();
    }

    /**
     * The outcome that explains why a call with these arguments cannot run; empty if it can. The arguments match the
     * tool's schema.
     */
    Optional<ToolOutcome> problem(T implementation, ToolSpec tool, Json args);

    /**
     * Runs a call once. However the run ends, it has an outcome: {@link ToolOutcome#unknown} if it is not known whether
     * the tool took effect.
     *
     * @throws InterruptedException if the calling thread was interrupted; the tool may have had an effect
     */
    ToolOutcome run(T implementation, ToolRun run) throws InterruptedException;

    /**
     * Whether this worker can run the tool at once: it has it, and no connection has to be opened first. If not, a call
     * is dispatched to an activity of its own, which may run in another worker.
     */
    default boolean isReady(T implementation, ToolSpec tool) {
        return true;
    }

    /**
     * The current digest of what defines the tool outside of the agent's definition; empty if nothing does.
     *
     * @throws UnknownDefinitionException if it can't be found out at the moment
     */
    default Optional<String> definition(T implementation, ToolSpec tool, ProcessFence fence)
            throws UnknownDefinitionException, InterruptedException {
        return Optional.empty();
    }

    /** Checks whether a lost call took effect. */
    VerifyOutcome verify(ToolRun run) throws InterruptedException;

    /**
     * Asks the tool's server once for the status of a task, and delivers the input that the server waits for.
     *
     * @return the outcome of the call, or what the server requires now
     * @throws io.temporal.failure.ApplicationFailure if the server is to be asked again later
     */
    default ToolOutcome follow(T implementation, ToolSpec tool, Suspension task, ProcessFence fence)
            throws InterruptedException {
        throw new IllegalStateException("tools of this kind cannot suspend a call: " + tool.name());
    }

    /** Tells the tool's server that the result of a task is no longer needed. */
    default void cancel(T implementation, String task, ProcessFence fence) throws InterruptedException {
        throw new IllegalStateException("tools of this kind cannot suspend a call: " + task);
    }

    /** The maximum number of concurrent calls of this kind in a worker. A worker with a small heap allows fewer. */
    default int slots() {
        return 256;
    }

    /** Closes connections and processes that were kept for later calls. */
    @Override
    default void close() {}
}
