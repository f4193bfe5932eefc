package dev.waymark.client;

import dev.waymark.checkpoint.RestoredCheckpoint;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.value.Json;
import java.time.Instant;
import java.util.List;

/**
 * The calls of a checkpoint that somebody should look at before it is resumed.
 *
 * @param notStarted calls that were never started and may have side effects; only the agent's tools show whether they
 *     do. Empty if this server has all open calls in a thread of its own.
 * @param mayHaveRun calls of the transcript without a result, whose outcome is unknown
 * @param aheadOfTranscript calls that the tool-call log of the checkpoint shows as started and that its transcript
 *     lacks, whose outcome is unknown
 */
public record CheckpointReview(List<FileCall> notStarted, List<FileCall> mayHaveRun, List<FileCall> aheadOfTranscript) {
    public CheckpointReview {
        notStarted = List.copyOf(notStarted);
        mayHaveRun = List.copyOf(mayHaveRun);
        aheadOfTranscript = List.copyOf(aheadOfTranscript);
    }

    /**
     * A call of a checkpoint.
     *
     * @param since when it was requested or started, according to the checkpoint
     */
    public record FileCall(String callId, String tool, Json args, Instant since) {}

    static CheckpointReview of(RestoredCheckpoint file, ResumeSource source) {
        return new CheckpointReview(
                calls(source.undecidedCalls()), calls(file.mayHaveRun()), calls(file.aheadOfTranscript()));
    }

    private static List<FileCall> calls(List<Call> calls) {
        return calls.stream()
                .map(call -> new FileCall(call.id(), call.tool(), call.args(), call.since()))
                .toList();
    }
}
