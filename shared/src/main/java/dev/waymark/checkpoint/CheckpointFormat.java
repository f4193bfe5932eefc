package dev.waymark.checkpoint;

import dev.waymark.conversation.value.Json;
import dev.waymark.history.Timeline;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** The documented formats of checkpoints. */
public enum CheckpointFormat {
    /** Messages, iterations, usage, and the call that waits for an answer. */
    RUNNER("runner", timeline -> RunnerCheckpoint.of(timeline.now())),
    /** Messages, to-dos and files of a named thread, and the call that waits for a person. */
    THREAD("thread", ThreadCheckpoint::of),
    /** A record for each phase of a turn. */
    PHASES("phases", timeline -> Json.of(PhasesCheckpoint.chain(timeline))),
    /** A row for each message and each result. */
    MESSAGES("messages", timeline -> MessagesCheckpoint.of(timeline.now())),
    /** A session, its newest checkpoint and its tool calls. */
    SESSION("session", SessionCheckpoint::of),
    /** All checkpoints of a session. */
    VERSIONS(
            "versions", timeline -> Json.of(SessionCheckpoint.versions(timeline).toList()));

    private final String wireName;
    private final Function<Timeline, Json> view;

    CheckpointFormat(String wireName, Function<Timeline, Json> view) {
        this.wireName = wireName;
        this.view = view;
    }

    /** The thread in this format, at the end of the timeline. */
    public Json view(Timeline timeline) {
        return view.apply(timeline);
    }

    /** The name in commands and files. */
    public String wireName() {
        return wireName;
    }

    /** The format with this name. */
    public static Optional<CheckpointFormat> of(String name) {
        return Arrays.stream(values())
                .filter(format -> format.wireName.equals(name))
                .findFirst();
    }

    /** The names of all formats, in order. */
    public static List<String> names() {
        return Arrays.stream(values()).map(CheckpointFormat::wireName).toList();
    }
}
