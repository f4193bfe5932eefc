package dev.waymark.worker.tool;

import dev.waymark.agent.ToolImplementation;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.contract.work.VerifyOutcome;
import dev.waymark.conversation.call.Suspension;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.tool.kind.ToolKind;
import dev.waymark.worker.tool.kind.ToolRun;
import dev.waymark.worker.tool.kind.UnknownDefinitionException;
import java.util.Optional;

/**
 * A tool's data, with the kind that runs such tools.
 *
 * @param slots limit the concurrent calls of all tools of this kind
 */
record BoundTool<T extends ToolImplementation>(ToolKind<T> kind, ToolSlots slots, T implementation) {
    Optional<String> misfit(ToolSpec tool, Json args) {
        return kind.misfit(implementation, tool, args);
    }

    Optional<ToolOutcome> problem(ToolSpec tool, Json args) {
        return kind.problem(implementation, tool, args);
    }

    boolean isReady(ToolSpec tool) {
        return kind.isReady(implementation, tool);
    }

    Optional<String> definition(ToolSpec tool, ProcessFence fence)
            throws UnknownDefinitionException, InterruptedException {
        return kind.definition(implementation, tool, fence);
    }

    ToolOutcome run(ToolRun run) throws InterruptedException {
        return kind.run(implementation, run);
    }

    ToolOutcome follow(ToolSpec tool, Suspension task, ProcessFence fence) throws InterruptedException {
        return kind.follow(implementation, tool, task, fence);
    }

    void cancel(String task, ProcessFence fence) throws InterruptedException {
        kind.cancel(implementation, task, fence);
    }

    VerifyOutcome verify(ToolRun run) throws InterruptedException {
        return kind.verify(run);
    }
}
