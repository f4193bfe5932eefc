package dev.waymark.worker.tool;

import dev.waymark.agent.ToolImplementation;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.contract.work.VerifyOutcome;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.tool.EffectUnknownException;
import dev.waymark.tool.InterruptException;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolArguments;
import dev.waymark.tool.VerifyResult;
import dev.waymark.worker.inbound.InlineText;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.tool.java.JavaTools;
import dev.waymark.worker.tool.kind.Effect;
import dev.waymark.worker.tool.kind.ToolKind;
import dev.waymark.worker.tool.kind.ToolRun;
import dev.waymark.worker.tool.kind.UnknownDefinitionException;
import java.nio.channels.ClosedByInterruptException;
import java.util.Objects;
import java.util.Optional;

/** Java tools that the worker was built with. Agent files refer to them with {@code use: NAME}. */
final class JavaToolKind implements ToolKind<ToolImplementation.Plain> {
    /** How many characters of a schema an error shows. */
    private static final int MOST_OF_SCHEMA = 1_000;

    private final JavaTools tools;
    private final String agent;

    /** @param agent the name of the agent whose tools are run */
    public JavaToolKind(JavaTools tools, String agent) {
        this.tools = tools;
        this.agent = agent;
    }

    private Optional<Tool> find(ToolSpec tool) {
        return tools.find(agent, tool.name());
    }

    /** A thread keeps the schema that it recorded, but runs the code of this worker. */
    @Override
    public Optional<String> misfit(ToolImplementation.Plain java, ToolSpec tool, Json args) {
        return find(tool).flatMap(found -> misfit(found, tool.input(), args));
    }

    private static Optional<String> misfit(Tool tool, Json recorded, Json args) {
        Json present = tool.spec().input();
        if (present.equals(recorded)) {
            return refusal(tool, args);
        }
        return ToolArguments.problem(present, args)
                .or(() -> refusal(tool, args))
                .map(why -> "the tool has changed since this thread recorded it, and refuses these arguments now: "
                        + why + ". Recorded schema: " + shortened(recorded) + ". Present schema: "
                        + shortened(present));
    }

    private static String shortened(Json schema) {
        String text = schema.canonical();
        return text.length() > MOST_OF_SCHEMA ? text.substring(0, MOST_OF_SCHEMA) + "…" : text;
    }

    private static Optional<String> refusal(Tool tool, Json args) {
        try {
            return tool.problem(args);
        } catch (RuntimeException e) {
            return Optional.of(words(e)); // The error must not fail the model call that made these arguments.
        }
    }

    /** The schema of the arguments, which tells models, people and rules what the arguments mean. */
    @Override
    public Optional<String> definition(ToolImplementation.Plain java, ToolSpec tool, ProcessFence fence)
            throws UnknownDefinitionException {
        return Optional.of(Sha256.hex(find(tool)
                .orElseThrow(() -> new UnknownDefinitionException(missing(tool)))
                .spec()
                .input()
                .canonical()));
    }

    @Override
    public Optional<ToolOutcome> problem(ToolImplementation.Plain java, ToolSpec tool, Json args) {
        return find(tool).isPresent() ? Optional.empty() : Optional.of(Effect.NOT_DONE.outcome(missing(tool)));
    }

    @Override
    public boolean isReady(ToolImplementation.Plain java, ToolSpec tool) {
        return find(tool).isPresent();
    }

    @Override
    public ToolOutcome run(ToolImplementation.Plain java, ToolRun run) throws InterruptedException {
        if (run.fence().left().isZero()) {
            return run.tooLate();
        }
        Tool tool = find(run.tool()).orElseThrow();
        InterruptTimer timer = new InterruptTimer(run.fence().left());
        try (timer) {
            return Effect.DONE.outcome(Objects.requireNonNullElse(tool.run(run.args(), run.context()), "done"));
        } catch (InterruptException e) {
            return ToolOutcome.question(InlineText.of(e.question()));
        } catch (EffectUnknownException e) {
            return Effect.UNKNOWN.outcome(words(e));
        } catch (InterruptedException e) {
            if (timer.hasPassed()) {
                return Effect.UNKNOWN.outcome(run.timedOut());
            }
            throw e;
        } catch (Exception e) {
            if (timer.hasPassed()) {
                return Effect.UNKNOWN.outcome(run.timedOut());
            }
            // An interrupted tool may throw any exception, and it is unknown whether it took effect before.
            if (isInterruption(e) || run.cancelled().getAsBoolean()) {
                throw new InterruptedException(words(e));
            }
            return Effect.OWN_ERROR.outcome(words(e));
        }
    }

    @Override
    public VerifyOutcome verify(ToolRun run) throws InterruptedException {
        Optional<Tool> tool = find(run.tool());
        if (tool.isEmpty()) {
            return VerifyOutcome.unknown(missing(run.tool()));
        }
        InterruptTimer timer = new InterruptTimer(run.fence().left());
        try (timer) {
            VerifyResult verdict = tool.get().verify(run.args(), run.context());
            return verdict.landed()
                    .map(landed -> VerifyOutcome.known(landed, verdict.result().map(InlineText::of)))
                    .orElseGet(() -> VerifyOutcome.unknown("verify: it can't tell"));
        } catch (InterruptedException e) {
            if (timer.hasPassed()) {
                return VerifyOutcome.unknown("verify: " + run.timedOut());
            }
            throw e;
        } catch (Exception e) {
            return VerifyOutcome.unknown("verify: " + InlineText.of(words(e)));
        }
    }

    private static String missing(ToolSpec tool) {
        return "this worker has no tool " + tool.name();
    }

    /** Libraries may wrap an interruption of their thread in other exceptions, which are not results of the tool. */
    private static boolean isInterruption(Throwable e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof InterruptedException || cause instanceof ClosedByInterruptException) {
                return true;
            }
        }
        return false;
    }

    private static String words(Exception e) {
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }
}
