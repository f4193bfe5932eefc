package dev.waymark.worker.tool.kind;

import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.ToolOutcome;
import dev.waymark.contract.VerifyOutcome;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlValue;
import java.util.Optional;

/**
 * A kind of tool that activities run: how an agent file declares one, what it takes for arguments, and how it is run and
 * verified. Thread-safe.
 */
public interface ToolKind extends AutoCloseable {
    ToolSpec.Kind kind();

    /**
     * The field that makes an entry of an agent file's {@code tools} a tool of this kind, such as {@code command}. Empty
     * for kinds whose tools are not declared one by one.
     */
    default Optional<String> field() {
        return Optional.empty();
    }

    /**
     * Reads that field, and whatever else in the entry belongs to this kind only. The caller reads what all kinds have,
     * such as {@code timeout}.
     */
    default ToolSpec.Builder read(YamlValue value, ToolEntry entry) throws YamlProblem {
        throw new IllegalStateException("not declared by a field of its own: " + kind());
    }

    /** Why a call with these arguments cannot run, as its result; empty when it can. They fit the tool's schema. */
    Optional<ToolOutcome> problem(ToolSpec tool, Json args);

    /**
     * Runs a tool once. Every end is an outcome: {@link ToolOutcome#unknown} when the tool may have taken effect and nobody
     * knows.
     *
     * @throws InterruptedException when the calling thread was interrupted; what ran may have had an effect
     */
    ToolOutcome run(ToolRun run) throws InterruptedException;

    /** Finds out whether a lost call took effect. */
    VerifyOutcome verify(ToolRun run) throws InterruptedException;

    /** How many of them a worker runs at a time. */
    default int slots() {
        return 256;
    }

    /** Ends what it keeps for later calls. */
    @Override
    default void close() {}
}
