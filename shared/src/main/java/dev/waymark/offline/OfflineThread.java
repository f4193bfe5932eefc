package dev.waymark.offline;

import dev.waymark.checkpoint.CheckpointViews;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.value.Json;
import dev.waymark.history.ThreadHistory;
import dev.waymark.timeline.CheckpointFormat;
import dev.waymark.timeline.Timeline;
import io.temporal.payload.codec.PayloadCodec;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A thread whose history is in files: every state that it had, and its checkpoints. Needs neither a server nor a network.
 *
 * <pre>{@code
 * OfflineThread thread = OfflineThread.of(List.of(Files.readString(Path.of("trip.json"))), System.getenv());
 * thread.timeline().moments().forEach(moment -> System.out.println(moment.address() + " " + moment.status().status()));
 * System.out.println(thread.checkpoint(CheckpointFormat.THREAD).canonical());
 * }</pre>
 */
public record OfflineThread(Timeline timeline) {
    /**
     * Reads the output of {@code temporal workflow show --output json}, or a file of {@code waymark export}.
     *
     * @param documents the runs of the thread, in any order
     * @param variables the keys of encrypted threads, in the variables that workers read them from: {@code
     *     WAYMARK_CODEC_KEYS}, {@code WAYMARK_THREAD_KEYS}, {@code TEMPORAL_NAMESPACE}
     * @throws IllegalArgumentException if a document is not the history of a thread, if it is encrypted and the keys are
     *     missing, or if the runs are of different threads or do not follow each other
     */
    public static OfflineThread of(List<String> documents, Map<String, String> variables) {
        Optional<PayloadCodec> codec = Connection.codec(variables);
        String namespace = Connection.namespace(variables);
        if (documents.isEmpty()) {
            throw new IllegalArgumentException("no history is given");
        }
        return new OfflineThread(ThreadHistory.joined(documents.stream()
                        .map(document -> ThreadHistory.parse(document).decoded(codec, namespace))
                        .toList())
                .timeline());
    }

    /** The thread at a {@linkplain Timeline#at place}, such as {@code 2} or {@code e17}; empty if it has no such place. */
    public Optional<OfflineThread> at(String place) {
        return timeline.at(place).map(timeline::upTo).map(OfflineThread::new);
    }

    /** A checkpoint of the newest state, in this format. */
    public Json checkpoint(CheckpointFormat format) {
        return CheckpointViews.of(format, timeline);
    }
}
