package dev.waymark.checkpoint;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The documented formats, by the names that users give them. */
public enum CheckpointFormat {
    RUNNER("runner"),
    THREAD("thread"),
    PHASES("phases"),
    MESSAGES("messages"),
    SESSION("session"),
    VERSIONS("versions");

    private final String wireName;

    CheckpointFormat(String wireName) {
        this.wireName = wireName;
    }

    public String wireName() {
        return wireName;
    }

    public static Optional<CheckpointFormat> of(String name) {
        return Arrays.stream(values())
                .filter(format -> format.wireName.equals(name))
                .findFirst();
    }

    public static List<String> names() {
        return Arrays.stream(values()).map(CheckpointFormat::wireName).toList();
    }
}
