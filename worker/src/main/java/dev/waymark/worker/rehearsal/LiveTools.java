package dev.waymark.worker.rehearsal;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.conversation.policy.AgentPolicy;
import dev.waymark.conversation.value.IdempotencyKey;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.ToolContext;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.tool.ToolRunner;
import dev.waymark.worker.tool.kind.ToolRun;
import java.util.Optional;
import java.util.OptionalLong;

/** Runs tools that are safe to retry, outside of any thread. */
public final class LiveTools {
    /** The id of a thread that does not exist. */
    private static final String NOWHERE = "rehearsal";

    private final ToolRunner tools;

    public LiveTools(ToolRunner tools) {
        this.tools = tools;
    }

    /**
     * Whether a call of the tool may run: an activity runs the tool, it has no side effects, and it had none for the
     * recorded agent, because a file that is being tried may say so by mistake.
     */
    static boolean isSafe(ToolSpec tool, Optional<AgentPolicy> recorded) {
        return tool.kind().executor() == AgentPolicy.Executor.ACTIVITY
                && tool.kind() != ToolSpec.Kind.FRONT_END
                && !tool.hasEffect()
                && recorded.filter(policy -> policy.tools().containsKey(tool.name()))
                        .filter(policy -> policy.policyOf(tool.name()).effect())
                        .isEmpty();
    }

    /** Runs a safe tool once. */
    ToolOutcome run(AgentSpec agent, ToolSpec tool, Json args) throws InterruptedException {
        if (!isSafe(tool, Optional.empty())) {
            throw new IllegalArgumentException("the tool may have side effects: " + tool.name());
        }
        Optional<ToolOutcome> problem = tools.problem(tool, args);
        if (problem.isPresent()) {
            return problem.get();
        }
        ToolContext context = new ToolContext(
                NOWHERE,
                NOWHERE,
                tool.name(),
                IdempotencyKey.of(NOWHERE, tool.name(), args, 0),
                OptionalLong.empty(),
                agent.context().orElse(Json.EMPTY_OBJECT),
                Optional.empty());
        return tools.run(ToolRun.unclaimed(tool, args, context, ProcessFence.in(tool.timeout()), () -> false));
    }
}
