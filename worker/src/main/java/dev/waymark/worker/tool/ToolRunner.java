package dev.waymark.worker.tool;

import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.ToolOutcome;
import dev.waymark.contract.VerifyOutcome;
import dev.waymark.conversation.ToolTexts;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.ToolArguments;
import dev.waymark.worker.text.InlineText;
import dev.waymark.worker.tool.kind.Effect;
import dev.waymark.worker.tool.kind.ToolRun;
import java.util.Optional;

/** Runs tools of every kind, once each, and knows nothing of why and whether they may run. */
public final class ToolRunner {
    private final ToolKinds kinds;

    public ToolRunner(ToolKinds kinds) {
        this.kinds = kinds;
    }

    /** What keeps a call from being run at all. */
    public Optional<ToolOutcome> problem(ToolSpec tool, Json args) {
        return ToolArguments.problem(tool.input(), args)
                .map(why -> ToolOutcome.notDone(ToolTexts.invalidInput(tool.name(), why)))
                .or(() -> kinds.of(tool).problem(tool, args));
    }

    /** Runs a tool once. An unknown outcome is an error result of a tool whose running twice is harmless. */
    public ToolOutcome run(ToolRun run) throws InterruptedException {
        ToolOutcome outcome = checked(run.tool(), kinds.of(run.tool()).run(run));
        return run.tool().hasEffect() ? outcome : outcome.ofSafeTool();
    }

    /** Finds out whether a lost call took effect. */
    VerifyOutcome verify(ToolRun run) throws InterruptedException {
        return kinds.of(run.tool()).verify(run);
    }

    /** Whatever returns a result that is not what the tool promised has done something, and nobody knows what. */
    private static ToolOutcome checked(ToolSpec tool, ToolOutcome outcome) {
        return tool.output()
                .flatMap(schema -> outcome.result().flatMap(text -> ToolArguments.outputProblem(schema, text)))
                .map(problem -> ToolTexts.invalidOutput(tool.name(), problem))
                .map(seen -> tool.hasEffect() ? Effect.UNKNOWN.outcome(seen) : ToolOutcome.error(InlineText.of(seen)))
                .orElse(outcome);
    }
}
