package dev.waymark.worker.tool.java;

import dev.waymark.agent.ToolImplementation;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.contract.work.VerifyOutcome;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.EffectUnknownException;
import dev.waymark.tool.InterruptException;
import dev.waymark.tool.Tool;
import dev.waymark.tool.Verdict;
import dev.waymark.worker.inbound.InlineText;
import dev.waymark.worker.tool.kind.Effect;
import dev.waymark.worker.tool.kind.ToolKind;
import dev.waymark.worker.tool.kind.ToolRun;
import java.nio.channels.ClosedByInterruptException;
import java.util.Optional;

/** Java tools that the worker was built with. Agent files refer to them with {@code use: NAME}. */
public final class JavaToolKind implements ToolKind<ToolImplementation.Plain> {
    private final JavaTools tools;

    public JavaToolKind(JavaTools tools) {
        this.tools = tools;
    }

    @Override
    public Optional<ToolOutcome> problem(ToolImplementation.Plain java, ToolSpec tool, Json args) {
        return tools.find(tool.name()).isPresent()
                ? Optional.empty()
                : Optional.of(Effect.NOT_DONE.outcome(missing(tool)));
    }

    @Override
    public boolean isReady(ToolImplementation.Plain java, ToolSpec tool) {
        return tools.find(tool.name()).isPresent();
    }

    @Override
    public ToolOutcome run(ToolImplementation.Plain java, ToolRun run) throws InterruptedException {
        if (run.fence().left().isZero()) {
            return run.tooLate();
        }
        Tool tool = tools.find(run.tool().name()).orElseThrow();
        InterruptTimer timer = new InterruptTimer(run.fence().left());
        try (timer) {
            return Effect.DONE.outcome(tool.run(run.args(), run.context()));
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
        Optional<Tool> tool = tools.find(run.tool().name());
        if (tool.isEmpty()) {
            return VerifyOutcome.unknown(missing(run.tool()));
        }
        InterruptTimer timer = new InterruptTimer(run.fence().left());
        try (timer) {
            Verdict verdict = tool.get().verify(run.args(), run.context());
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
