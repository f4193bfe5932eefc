package dev.waymark.worker.tool.kind;

import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.conversation.call.Suspension;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.ToolContext;
import dev.waymark.worker.inbound.InlineText;
import dev.waymark.worker.process.ProcessFence;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;

/**
 * One execution of a tool.
 *
 * @param fence the deadline
 * @param execution the id under which this execution claimed the call; empty for a tool that is safe to retry, and for
 *     a check
 * @param server what the tool's server may do instead of finishing the call, and what it did before
 * @param cancelled whether the activity must end, in which case its thread has been interrupted
 */
public record ToolRun(
        ToolSpec tool,
        Json args,
        ToolContext context,
        ProcessFence fence,
        Optional<String> execution,
        ServerTurn server,
        BooleanSupplier cancelled) {

    /**
     * What the server of a tool may do.
     *
     * @param maySuspend whether the server may leave the call unfinished, which only a thread can continue
     * @param earlier the server's state and the input that it has required, if it did not finish the call before
     */
    public record ServerTurn(boolean maySuspend, Optional<Suspension> earlier) {
        /** The server has to finish the call. */
        public static final ServerTurn ONLY = new ServerTurn(false, Optional.empty());

        public static ServerTurn inThread(Optional<Suspension> earlier) {
            return new ServerTurn(true, earlier);
        }
    }

    /** A run without a claim, which the server has to finish: of a tool outside of a thread, or of a tool's check. */
    public static ToolRun unclaimed(
            ToolSpec tool, Json args, ToolContext context, ProcessFence fence, BooleanSupplier cancelled) {
        return new ToolRun(tool, args, context, fence, Optional.empty(), ServerTurn.ONLY, cancelled);
    }

    public EffectKeys effectKeys() {
        return tool.hasEffect()
                ? new EffectKeys(Optional.of(context.idempotencyKey()), context.fencingToken(), context.traceparent())
                : new EffectKeys(Optional.empty(), OptionalLong.empty(), context.traceparent());
    }

    public String timedOut() {
        return "timed out after " + fence.timeout().toSeconds() + "s";
    }

    /** The outcome of a tool that did not start. A claimed call is dispatched again. */
    public ToolOutcome notStarted(String why) {
        return execution.map(name -> ToolOutcome.notStarted(name, why)).orElseGet(() -> Effect.NOT_DONE.outcome(why));
    }

    /** The outcome if the time was up before the tool started. */
    public ToolOutcome tooLate() {
        return notStarted("it was not started in time");
    }

    /** The error message that the model sees. */
    static String errorText(String words) {
        return InlineText.of(ToolTexts.failure(words));
    }
}
