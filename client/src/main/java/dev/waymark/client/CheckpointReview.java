package dev.waymark.client;

import dev.waymark.checkpoint.RestoredCheckpoint;
import dev.waymark.conversation.call.Call;
import java.util.List;

/**
 * The calls of a checkpoint that somebody should look at before it is resumed.
 *
 * @param notStarted calls that were never started and may have side effects. Whether they have is known only with the
 *     agent. Empty if this server has all open calls in a thread of its own.
 * @param mayHaveRun calls of the transcript without a result, whose outcome is unknown
 * @param aheadOfTranscript calls that the tool-call log of the checkpoint shows as started and that its transcript
 *     lacks, whose outcome is unknown
 */
public record CheckpointReview(List<Call> notStarted, List<Call> mayHaveRun, List<Call> aheadOfTranscript) {
    public CheckpointReview {
        notStarted = List.copyOf(notStarted);
        mayHaveRun = List.copyOf(mayHaveRun);
        aheadOfTranscript = List.copyOf(aheadOfTranscript);
    }

    static CheckpointReview of(RestoredCheckpoint file, ResumeSource source) {
        return new CheckpointReview(source.undecidedCalls(), file.mayHaveRun(), file.aheadOfTranscript());
    }
}
