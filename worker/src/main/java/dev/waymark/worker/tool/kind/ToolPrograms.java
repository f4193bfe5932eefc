package dev.waymark.worker.tool.kind;

import dev.waymark.contract.work.VerifyOutcome;
import dev.waymark.tool.ToolContext;
import dev.waymark.worker.process.CommandResult;
import dev.waymark.worker.process.CommandRunner;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs the programs of tools, in the directory of the agent files. A tool of any kind may have a {@code verify}
 * program.
 */
public final class ToolPrograms {
    private final CommandRunner commands;
    private final Path directory;

    public ToolPrograms(CommandRunner commands, Path directory) {
        this.commands = commands;
        this.directory = directory;
    }

    public CommandResult run(ToolRun run, List<String> program) throws InterruptedException {
        return commands.run(run.tool(), program, directory, run.args(), environment(run.context()), run.fence());
    }

    /** Asks the tool's {@code verify} program whether a lost call took effect. */
    public VerifyOutcome verify(ToolRun run) throws InterruptedException {
        return VerifyAnswer.of(run(run, run.tool().effects().verify()));
    }

    private static Map<String, String> environment(ToolContext context) {
        Map<String, String> environment = new LinkedHashMap<>();
        environment.put("WAYMARK_THREAD", context.thread());
        environment.put("WAYMARK_CALL_ID", context.callId());
        environment.put("WAYMARK_TOOL", context.tool());
        environment.put("WAYMARK_IDEMPOTENCY_KEY", context.idempotencyKey());
        environment.put("WAYMARK_CONTEXT", context.context().canonical());
        context.traceparent().ifPresent(span -> environment.put("TRACEPARENT", span));
        context.fencingToken().ifPresent(token -> environment.put("WAYMARK_FENCING_TOKEN", Long.toString(token)));
        return environment;
    }
}
