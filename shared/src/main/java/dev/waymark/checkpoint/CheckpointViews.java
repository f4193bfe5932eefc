package dev.waymark.checkpoint;

import dev.waymark.conversation.value.Json;
import dev.waymark.timeline.CheckpointFormat;
import dev.waymark.timeline.Timeline;

/** The views of a thread in the documented formats. */
public final class CheckpointViews {
    private CheckpointViews() {}

    /** The thread in this format, at the end of the timeline. */
    public static Json of(CheckpointFormat format, Timeline timeline) {
        return switch (format) {
            case RUNNER -> RunnerCheckpoint.of(timeline.now());
            case THREAD -> ThreadCheckpoint.of(timeline);
            case PHASES -> Json.of(PhasesCheckpoint.chain(timeline));
            case MESSAGES -> MessagesCheckpoint.of(timeline.now());
            case SESSION -> SessionCheckpoint.of(timeline);
            case VERSIONS -> Json.of(SessionCheckpoint.versions(timeline).toList());
        };
    }
}
