package dev.waymark.worker.tool;

import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.ToolOutcome;
import dev.waymark.contract.VerifyOutcome;
import dev.waymark.conversation.ToolTexts;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.tool.EffectUnknownException;
import dev.waymark.tool.InterruptException;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolArguments;
import dev.waymark.tool.ToolContext;
import dev.waymark.tool.Verdict;
import dev.waymark.worker.activity.ActivityProblems;
import dev.waymark.worker.mcp.McpConnections;
import dev.waymark.worker.mcp.McpResult;
import dev.waymark.worker.mcp.OutcomeUnknownException;
import dev.waymark.worker.mcp.RequestNotSentException;
import dev.waymark.worker.tool.http.HttpResult;
import dev.waymark.worker.tool.http.HttpRunner;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Runs tools of every kind, once each, and knows nothing of why and whether they may run. */
public final class ToolRunner {
    /** Of a tool that is safe to retry. The type is stored in histories. */
    private static final String CONNECTION_LOST = "McpConnectionLost";

    private final JavaTools javaTools;
    private final CommandRunner commands;
    private final HttpRunner requests;
    private final Path directory;
    private final McpConnections servers;

    /** {@code directory} is where command tools are started: that of the agent files. */
    public ToolRunner(
            JavaTools javaTools, CommandRunner commands, HttpRunner requests, McpConnections servers, Path directory) {
        this.javaTools = javaTools;
        this.commands = commands;
        this.requests = requests;
        this.directory = directory;
        this.servers = servers;
    }

    /** What keeps a call from being run at all. */
    public Optional<ToolOutcome> problem(ToolSpec tool, Json args) {
        Optional<String> misfit = ToolArguments.problem(tool.input(), args)
                .or(() -> tool.http().flatMap(endpoint -> requests.misfit(endpoint, args)));
        if (misfit.isPresent()) {
            return Optional.of(ToolOutcome.error(ToolTexts.invalidInput(tool.name(), misfit.get())));
        }
        if (tool.kind() == ToolSpec.Kind.JAVA && javaTools.find(tool.name()).isEmpty()) {
            return Optional.of(failure("this worker has no tool " + tool.name()));
        }
        return Optional.empty();
    }

    /** Runs a tool whose running twice is harmless. */
    public ToolOutcome run(ToolSpec tool, Json args, ToolContext context, ProcessFence fence)
            throws InterruptedException {
        return checked(
                tool,
                switch (tool.kind()) {
                    case JAVA -> runJava(tool, args, context, fence).orElseGet(() -> failure(timedOut(fence)));
                    case COMMAND ->
                        runCommand(tool, tool.command(), args, context, fence).outcome();
                    case MCP -> runRemote(tool, args, fence);
                    case HTTP -> outcome(request(tool, args, Optional.empty(), fence));
                    case QUESTION, STATE, SUBAGENT -> throw notOurs(tool);
                });
    }

    /**
     * Runs a tool that has been claimed. What it did when its time was up, nobody knows; and if that was before it
     * began, it did nothing. {@code execution} is the name under which it was claimed.
     */
    ToolOutcome runOnce(ToolSpec tool, Json args, ToolContext context, ProcessFence fence, String execution)
            throws InterruptedException {
        return checked(
                tool,
                switch (tool.kind()) {
                    case JAVA ->
                        fence.left().isZero()
                                ? tooLate(execution)
                                : runJava(tool, args, context, fence)
                                        .orElseGet(() -> ToolOutcome.unknown(timedOut(fence)));
                    case COMMAND -> {
                        CommandResult result = runCommand(tool, tool.command(), args, context, fence);
                        if (result instanceof CommandResult.Killed killed) {
                            yield ToolOutcome.unknown(killed.words());
                        }
                        yield result instanceof CommandResult.NotStarted none && none.late()
                                ? ToolOutcome.notStarted(execution, none.why())
                                : result.outcome();
                    }
                    case MCP -> runRemoteOnce(tool, args, context, fence);
                    case HTTP -> {
                        if (fence.left().isZero()) {
                            yield tooLate(execution);
                        }
                        HttpResult result = request(tool, args, Optional.of(context.idempotencyKey()), fence);
                        yield result instanceof HttpResult.Lost lost
                                ? ToolOutcome.unknown(lost.words())
                                : outcome(result);
                    }
                    case QUESTION, STATE, SUBAGENT -> throw notOurs(tool);
                });
    }

    /** Finds out whether a lost call took effect. */
    VerifyOutcome verify(ToolSpec tool, Json args, ToolContext context, ProcessFence fence)
            throws InterruptedException {
        return switch (tool.kind()) {
            case JAVA -> verifyJava(tool, args, context, fence);
            case COMMAND, HTTP -> VerifyAnswer.of(runCommand(tool, tool.verify(), args, context, fence));
            case MCP -> VerifyOutcome.unknown("nothing can tell");
            case QUESTION, STATE, SUBAGENT -> throw notOurs(tool);
        };
    }

    /** A connection that breaks is no result: running it again is harmless, and Temporal's to do. */
    private ToolOutcome runRemote(ToolSpec tool, Json args, ProcessFence fence) throws InterruptedException {
        try {
            return outcome(servers.call(tool.mcp().orElseThrow(), args, Optional.empty(), fence));
        } catch (RequestNotSentException e) {
            throw ActivityProblems.passing(new Problem(CONNECTION_LOST, unreached(tool, e)), Optional.empty());
        } catch (OutcomeUnknownException e) {
            if (e.isLate()) {
                return failure(timedOut(fence));
            }
            throw ActivityProblems.passing(new Problem(CONNECTION_LOST, words(e)), Optional.empty());
        }
    }

    private ToolOutcome runRemoteOnce(ToolSpec tool, Json args, ToolContext context, ProcessFence fence)
            throws InterruptedException {
        try {
            return outcome(servers.call(tool.mcp().orElseThrow(), args, Optional.of(context.idempotencyKey()), fence));
        } catch (RequestNotSentException e) {
            return failure(unreached(tool, e));
        } catch (OutcomeUnknownException e) {
            return ToolOutcome.unknown(InlineText.of(words(e)));
        }
    }

    private static ToolOutcome outcome(McpResult result) {
        return result.isError() ? failure(result.text()) : ToolOutcome.result(InlineText.of(result.text()));
    }

    private static String unreached(ToolSpec tool, RequestNotSentException problem) {
        return "MCP server " + tool.mcp().orElseThrow().server().name() + " can't be reached: " + words(problem);
    }

    private CommandResult runCommand(
            ToolSpec tool, List<String> program, Json args, ToolContext context, ProcessFence fence)
            throws InterruptedException {
        return commands.run(tool, program, directory, args, environment(context), fence);
    }

    private HttpResult request(ToolSpec tool, Json args, Optional<String> key, ProcessFence fence)
            throws InterruptedException {
        return requests.run(tool.http().orElseThrow(), args, key, fence);
    }

    /** What the model is told. */
    private static ToolOutcome outcome(HttpResult result) {
        return result instanceof HttpResult.Answered answer && answer.isSuccess()
                ? ToolOutcome.result(InlineText.of(answer.body()))
                : failure(result.words());
    }

    private static ToolOutcome tooLate(String execution) {
        return ToolOutcome.notStarted(execution, "its time was up before it was started");
    }

    /** Nothing where its time was up. */
    private Optional<ToolOutcome> runJava(ToolSpec spec, Json args, ToolContext context, ProcessFence fence)
            throws InterruptedException {
        Tool tool = javaTools.find(spec.name()).orElseThrow();
        InterruptTimer deadline = new InterruptTimer(fence.left());
        try (deadline) {
            return Optional.of(ToolOutcome.result(InlineText.of(tool.run(args, context))));
        } catch (InterruptException e) {
            return Optional.of(ToolOutcome.question(InlineText.of(e.question())));
        } catch (EffectUnknownException e) {
            return Optional.of(ToolOutcome.unknown(InlineText.of(words(e))));
        } catch (InterruptedException e) {
            if (deadline.hasPassed()) {
                return Optional.empty();
            }
            throw e;
        } catch (Exception e) {
            if (deadline.hasPassed()) {
                return Optional.empty();
            }
            if (isInterruption(e)) {
                throw new InterruptedException(words(e));
            }
            return Optional.of(failure(words(e)));
        }
    }

    private VerifyOutcome verifyJava(ToolSpec spec, Json args, ToolContext context, ProcessFence fence)
            throws InterruptedException {
        Optional<Tool> tool = javaTools.find(spec.name());
        if (tool.isEmpty()) {
            return VerifyOutcome.unknown("this worker has no tool " + spec.name());
        }
        InterruptTimer deadline = new InterruptTimer(fence.left());
        try (deadline) {
            Verdict verdict = tool.get().verify(args, context);
            return verdict.landed()
                    .map(landed -> VerifyOutcome.known(landed, verdict.result().map(InlineText::of)))
                    .orElseGet(() -> VerifyOutcome.unknown("verify: it can't tell"));
        } catch (InterruptedException e) {
            if (deadline.hasPassed()) {
                return VerifyOutcome.unknown("verify: " + timedOut(fence));
            }
            throw e;
        } catch (Exception e) {
            return VerifyOutcome.unknown("verify: " + InlineText.of(words(e)));
        }
    }

    /** Libraries say in words of their own that their thread was interrupted. That is no result of the tool. */
    private static boolean isInterruption(Throwable e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof InterruptedException || cause instanceof ClosedByInterruptException) {
                return true;
            }
        }
        return false;
    }

    private static String timedOut(ProcessFence fence) {
        return "timed out after " + fence.timeout().toSeconds() + "s";
    }

    private static IllegalStateException notOurs(ToolSpec tool) {
        return new IllegalStateException("the conversation does this itself: " + tool.name());
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
        environment.put("WAYMARK_CONTEXT", context.context().canonical());
        context.fencingToken().ifPresent(token -> environment.put("WAYMARK_FENCING_TOKEN", Long.toString(token)));
        return environment;
    }

    private static ToolOutcome failure(String words) {
        return ToolOutcome.error(InlineText.of(ToolTexts.failure(words)));
    }

    private static String words(Exception e) {
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }
}
