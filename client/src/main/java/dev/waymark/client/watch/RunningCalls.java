package dev.waymark.client.watch;

import dev.waymark.contract.work.PartialReply;
import java.time.Instant;
import java.util.List;

/**
 * The calls of a reply that run together with the model call, at this time. Only calls that are safe to retry do. They
 * are not in history yet: the reply, the calls and their results follow as moments.
 *
 * @param eventId the event of the model call
 * @param calls in the order of the reply; empty if the attempt that ran them was lost
 */
public record RunningCalls(String runId, long eventId, Instant at, int attempt, List<Running> calls) {
    public RunningCalls {
        calls = List.copyOf(calls);
    }

    /** A call that runs. */
    public record Running(String callId, String tool) {}

    static List<Running> of(PartialReply reply) {
        return reply.running().stream()
                .map(call -> new Running(call.callId(), call.tool()))
                .toList();
    }
}
