package dev.waymark.client.watch;

import dev.waymark.annotation.Internal;
import dev.waymark.contract.thread.StatusReport;
import dev.waymark.conversation.Conversation;
import java.util.List;

/**
 * The status of a thread.
 *
 * @param waiting the requests that wait for a person, in call order
 */
public record ThreadStatus(String status, String phase, List<Waiting> waiting) {
    public ThreadStatus {
        waiting = List.copyOf(waiting);
    }

    /** A request that waits for a person: its call, the kind of a {@code PendingItem}, and the tool that was called. */
    public record Waiting(String callId, String kind, String tool) {}

    /** The status of a thread in this state. */
    @Internal
    public static ThreadStatus of(Conversation state) {
        StatusReport report = StatusReport.of(state);
        return new ThreadStatus(
                report.status(),
                report.phase(),
                state.asks().stream()
                        .map(ask -> new Waiting(ask.callId(), ask.kind().wireName(), ask.tool()))
                        .toList());
    }
}
