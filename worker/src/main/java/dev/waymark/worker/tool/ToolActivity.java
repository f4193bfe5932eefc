package dev.waymark.worker.tool;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.ToolInput;
import dev.waymark.contract.ToolOutcome;
import dev.waymark.conversation.ToolTexts;
import dev.waymark.history.RunReader;
import dev.waymark.tool.InterruptException;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolContext;
import dev.waymark.worker.activity.ActivityProblems;
import dev.waymark.worker.activity.Heartbeat;
import io.temporal.activity.Activity;
import io.temporal.activity.ActivityInfo;
import io.temporal.activity.DynamicActivity;
import io.temporal.common.converter.EncodedValues;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Runs a tool, whatever its name: the activity's type. How the tool is run is read from the agent that the run's history
 * records, not from this worker's files, which may have changed since.
 *
 * <p>Whatever the tool does, short of being cancelled, becomes an outcome that the model sees.
 */
public final class ToolActivity implements DynamicActivity {
    private final RunReader runs;
    private final JavaTools javaTools;
    private final CommandRunner commands;
    private final Path directory;

    /** {@code directory} is where command tools are started: that of the agent files. */
    public ToolActivity(RunReader runs, JavaTools javaTools, CommandRunner commands, Path directory) {
        this.runs = runs;
        this.javaTools = javaTools;
        this.commands = commands;
        this.directory = directory;
    }

    @Override
    public Object execute(EncodedValues arguments) {
        ToolInput input = arguments.get(0, ToolInput.class);
        ActivityInfo info = Activity.getExecutionContext().getInfo();
        try (Heartbeat heartbeat = Heartbeat.begin()) {
            AgentSpec agent = ActivityProblems.reading(() -> runs.agent(info.getWorkflowId(), info.getRunId()));
            ToolContext context = new ToolContext(info.getWorkflowId(), input.callId(), info.getActivityType());
            try {
                return run(agent, input, context);
            } catch (InterruptedException e) {
                throw heartbeat.cancellation(e);
            }
        }
    }

    private ToolOutcome run(AgentSpec agent, ToolInput input, ToolContext context) throws InterruptedException {
        Optional<ToolSpec> tool = agent.tool(context.tool());
        if (tool.isEmpty()) {
            return ToolOutcome.error(ToolTexts.failure("the agent has no tool " + context.tool()));
        }
        Optional<String> problem = ToolArguments.problem(tool.get().input(), input.args());
        if (problem.isPresent()) {
            return ToolOutcome.error(ToolTexts.invalidInput(context.tool(), problem.get()));
        }
        return switch (tool.get().kind()) {
            case JAVA -> runJava(tool.get(), input, context);
            case COMMAND ->
                commands.run(
                                tool.get(),
                                tool.get().command(),
                                directory,
                                input.args(),
                                environment(context),
                                Fence.in(tool.get().timeout()))
                        .outcome();
            case QUESTION -> throw new IllegalStateException("questions are asked by the workflow");
        };
    }

    private static Map<String, String> environment(ToolContext context) {
        Map<String, String> environment = new LinkedHashMap<>();
        environment.put("WAYMARK_THREAD", context.thread());
        environment.put("WAYMARK_CALL_ID", context.callId());
        environment.put("WAYMARK_TOOL", context.tool());
        return environment;
    }

    private ToolOutcome runJava(ToolSpec spec, ToolInput input, ToolContext context) throws InterruptedException {
        Optional<Tool> tool = javaTools.find(context.tool());
        if (tool.isEmpty()) {
            return ToolOutcome.error(ToolTexts.failure("this worker has no tool " + context.tool()));
        }
        Deadline deadline = new Deadline(spec.timeout());
        try (deadline) {
            return ToolOutcome.result(InlineText.of(tool.get().run(input.args(), context)));
        } catch (InterruptException e) {
            return ToolOutcome.question(InlineText.of(e.question()));
        } catch (InterruptedException e) {
            if (deadline.hasPassed()) {
                return ToolOutcome.error(
                        ToolTexts.failure("timed out after " + spec.timeout().toSeconds() + "s"));
            }
            throw e;
        } catch (Exception e) {
            String words = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
            return ToolOutcome.error(InlineText.of(ToolTexts.failure(words)));
        }
    }
}
