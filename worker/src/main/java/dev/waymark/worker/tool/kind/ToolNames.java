package dev.waymark.worker.tool.kind;

import java.util.List;
import java.util.regex.Pattern;

/** Valid names for tools: {@code [A-Za-z0-9_-]{1,64}}, except for reserved names. */
public final class ToolNames {

    private static final Pattern ALLOWED = Pattern.compile("[A-Za-z0-9_-]{1,64}");

    /**
     * Names of other activities and of built-in tools. The name of a tool is its activity type, so it must be
     * different.
     */
    private static final List<String> TAKEN = List.of(
            "model",
            "agent",
            "verify",
            "ask_user",
            "write_todos",
            "write_plan",
            "ls",
            "read_file",
            "write_file",
            "edit_file");

    private ToolNames() {}

    /** Whether providers and idempotency keys can contain the name. */
    public static boolean isWellFormed(String name) {
        return ALLOWED.matcher(name).matches();
    }

    public static boolean isTaken(String name) {
        return TAKEN.contains(name);
    }
}
