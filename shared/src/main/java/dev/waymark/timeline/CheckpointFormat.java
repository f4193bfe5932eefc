package dev.waymark.timeline;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The documented formats of checkpoints. */
public enum CheckpointFormat {
    /** Messages, iterations, usage, and the call that waits for an answer. */
    RUNNER("runner"),
    /** Messages, to-dos and files of a named thread, and the call that waits for a person. */
    THREAD("thread"),
    /** A record for each phase of a turn. */
    PHASES("phases"),
    /** A row for each message and each result. */
    MESSAGES("messages"),
    /** A session, its newest checkpoint and its tool calls. */
    SESSION("session"),
    /** All checkpoints of a session. */
    VERSIONS("versions");

    private final String wireName;

    CheckpointFormat(String wireName) {
        this.wireName = wireName;
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
