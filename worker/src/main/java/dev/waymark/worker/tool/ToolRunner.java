package dev.waymark.worker.tool;

import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.ToolOutcome;
import dev.waymark.contract.VerifyOutcome;
import dev.waymark.conversation.Json;
import dev.waymark.conversation.ToolTexts;
import dev.waymark.tool.InterruptException;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolContext;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Runs tools of every kind, once each, and knows nothing of why and whether they may run. */
public final class ToolRunner {
    private final JavaTools javaTools;
    private final CommandRunner commands;
    private final Path directory;

    /** {@code directory} is where command tools are started: that of the agent files. */
    public ToolRunner(JavaTools javaTools, CommandRunner commands, Path directory) {
        this.javaTools = javaTools;
        this.commands = commands;
        this.directory = directory;
    }

    /** What keeps a call from being run at all. */
    Optional<ToolOutcome> problem(ToolSpec tool, Json args) {
        Optional<String> misfit = ToolArguments.problem(tool.input(), args);
        if (misfit.isPresent()) {
            return Optional.of(ToolOutcome.error(ToolTexts.invalidInput(tool.name(), misfit.get())));
        }
        if (tool.kind() == ToolSpec.Kind.JAVA && javaTools.find(tool.name()).isEmpty()) {
            return Optional.of(failure("this worker has no tool " + tool.name()));
        }
        return Optional.empty();
    }

    /** Runs a tool whose running twice is harmless. */
    ToolOutcome run(ToolSpec tool, Json args, ToolContext context, Instant deadline) throws InterruptedException {
        return switch (tool.kind()) {
            case JAVA -> checked(tool, runJava(tool, args, context, deadline));
            case COMMAND -> checked(tool, commands.run(tool, directory, args, environment(context)));
            case QUESTION, STATE ->
                throw new IllegalStateException("the conversation does this itself: " + tool.name());
        };
    }

    /** Runs a tool that has been claimed. What it did when its time was up, nobody knows. */
    ToolOutcome runOnce(ToolSpec tool, Json args, ToolContext context, Instant deadline, String execution)
            throws InterruptedException {
        return run(tool, args, context, deadline);
    }

    /** Finds out whether a lost call took effect. */
    VerifyOutcome verify(ToolSpec tool, Json args, ToolContext context, Instant deadline) throws InterruptedException {
        return VerifyOutcome.unknown("not yet");
    }

    private ToolOutcome runJava(ToolSpec spec, Json args, ToolContext context, Instant until)
            throws InterruptedException {
        Tool tool = javaTools.find(spec.name()).orElseThrow();
        Deadline deadline = new Deadline(Duration.between(Instant.now(), until));
        try (deadline) {
            return ToolOutcome.result(InlineText.of(tool.run(args, context)));
        } catch (InterruptException e) {
            return ToolOutcome.question(InlineText.of(e.question()));
        } catch (InterruptedException e) {
            if (deadline.hasPassed()) {
                String words = "timed out after " + spec.timeout().toSeconds() + "s";
                return spec.hasEffect() ? ToolOutcome.lost(words) : failure(words);
            }
            throw e;
        } catch (Exception e) {
            return failure(words(e));
        }
    }

    /** A result that is not what the tool promised is an error result. */
    private static ToolOutcome checked(ToolSpec tool, ToolOutcome outcome) {
        return tool.output()
                .flatMap(schema -> outcome.result().flatMap(text -> ToolArguments.outputProblem(schema, text)))
                .map(problem -> ToolOutcome.error(InlineText.of(ToolTexts.invalidOutput(tool.name(), problem))))
                .orElse(outcome);
    }

    private static Map<String, String> environment(ToolContext context) {
        Map<String, String> environment = new LinkedHashMap<>();
        environment.put("WAYMARK_THREAD", context.thread());
        environment.put("WAYMARK_CALL_ID", context.callId());
        environment.put("WAYMARK_TOOL", context.tool());
        environment.put("WAYMARK_IDEMPOTENCY_KEY", context.idempotencyKey());
        return environment;
    }

    private static ToolOutcome failure(String words) {
        return ToolOutcome.error(InlineText.of(ToolTexts.failure(words)));
    }

    private static String words(Exception e) {
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }
}
