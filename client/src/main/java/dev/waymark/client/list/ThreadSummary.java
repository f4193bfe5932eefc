package dev.waymark.client.list;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.codec.ScheduledThread;
import dev.waymark.conversation.value.Problem;
import dev.waymark.thread.ForkSource;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * A thread in a list. {@code status} is the status of its last turn, or {@code interrupted}.
 *
 * @param title the beginning of the conversation's first message, on one line and safe to show
 * @param latest the beginning of the newest message of a person, if that is another message
 * @param forkedFrom where a fork began
 * @param waiting the requests that wait for a person, in call order. Empty for the thread of a subagent, whose requests
 *     are answered in the thread above it.
 * @param error why the last turn ended early
 */
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record ThreadSummary(
        String thread,
        String status,
        boolean open,
        String agent,
        int turns,
        Instant updated,
        Optional<String> title,
        Optional<String> latest,
        Optional<ForkSource> forkedFrom,
        List<Waiting> waiting,
        Optional<Problem> error) {
    public ThreadSummary {
        waiting = List.copyOf(waiting);
    }

    /** The schedule that has started the thread, according to its name. */
    @JsonProperty
    public Optional<String> schedule() {
        return ScheduledThread.of(thread).map(ScheduledThread::schedule);
    }

    /** When the oldest of the requests began to wait. There must be one. */
    Instant waitingSince() {
        return Collections.min(waiting.stream().map(Waiting::since).toList());
    }

    /**
     * A request that waits for a person.
     *
     * @param kind the kind of a {@code PendingItem}
     * @param tool the tool that was called
     * @param until when the request expires
     * @param signed whether the decision must be signed
     */
    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    public record Waiting(
            String kind,
            String tool,
            Instant since,
            Optional<Instant> until,

            @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean signed) {}
}
