package dev.waymark.worker.tool.frontend;

import dev.waymark.agent.ToolImplementation;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.contract.work.VerifyOutcome;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.inbound.InlineText;
import dev.waymark.worker.tool.kind.ToolEntry;
import dev.waymark.worker.tool.kind.ToolKind;
import dev.waymark.worker.tool.kind.ToolRun;
import dev.waymark.worker.yaml.YamlValue;
import java.util.Optional;

/**
 * Tools that a front end runs: {@code front_end: true}. The worker turns such a call into a question, which waits
 * without a time limit until somebody answers it with the result.
 */
public final class FrontEndToolKind implements ToolKind<ToolImplementation.Plain> {
    @Override
    public Optional<String> field() {
        return Optional.of("front_end");
    }

    @Override
    public ToolSpec.Builder read(YamlValue value, ToolEntry entry) {
        return ToolSpec.frontEnd(entry.name());
    }

    @Override
    public Optional<ToolOutcome> problem(ToolImplementation.Plain frontEnd, ToolSpec tool, Json args) {
        return Optional.empty();
    }

    @Override
    public ToolOutcome run(ToolImplementation.Plain frontEnd, ToolRun run) {
        return ToolOutcome.question(InlineText.of("A front end runs "
                + run.tool().name() + " " + run.args().canonical() + ", and answers with the result."));
    }

    @Override
    public VerifyOutcome verify(ToolRun run) {
        throw new IllegalStateException("a front end's calls are never claimed, and so never lost: "
                + run.tool().name());
    }
}
