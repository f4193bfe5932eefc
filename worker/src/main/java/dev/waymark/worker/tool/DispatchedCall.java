package dev.waymark.worker.tool;

import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.TraceIds;
import dev.waymark.contract.work.ToolInput;
import dev.waymark.conversation.value.IdempotencyKey;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.ToolContext;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.tool.kind.ToolRun;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;

/**
 * A call that a workflow has dispatched to this worker.
 *
 * @param tool the tool as recorded in the run's history
 * @param context the information that the tool gets about the call, besides the arguments
 */
record DispatchedCall(ToolSpec tool, ToolInput input, ToolContext context) {
    /** @param carried the context of the thread or of its agent */
    static DispatchedCall of(ToolSpec tool, ToolInput input, String thread, Json carried, TraceIds traceIds) {
        String key = IdempotencyKey.of(input.session().orElse(thread), tool.name(), input.args(), input.repeat());
        Optional<String> traceparent = Optional.of(traceIds.traceparentOf(input.callId()));
        return new DispatchedCall(
                tool,
                input,
                new ToolContext(thread, input.callId(), tool.name(), key, OptionalLong.empty(), carried, traceparent));
    }

    DispatchedCall withFencingToken(OptionalLong token) {
        return new DispatchedCall(tool, input, context.withFencingToken(token));
    }

    /** The time within which the call ends, if its tool reacts to an interrupt. */
    Duration most() {
        return tool.timeout().plus(ToolActivity.CLEANUP);
    }

    /** @param execution the id under which this execution has claimed the call; empty if the tool is safe to retry */
    ToolRun toolRun(ProcessFence fence, Optional<String> execution, BooleanSupplier cancelled) {
        ToolRun.ServerTurn server = ToolRun.ServerTurn.inThread(input.suspension());
        return new ToolRun(tool, input.args(), context, fence, execution, server, cancelled);
    }
}
