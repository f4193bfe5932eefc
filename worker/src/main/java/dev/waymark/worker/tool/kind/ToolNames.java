package dev.waymark.worker.tool.kind;

import java.util.List;
import java.util.regex.Pattern;

/** What a tool may be called: {@code [A-Za-z0-9_-]{1,64}}, except for the names that are taken. */
public final class ToolNames {

    private static final Pattern ALLOWED = Pattern.compile("[A-Za-z0-9_-]{1,64}");

    /** A tool's name is its activity's type, so those of our own activities are taken. */
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

    /** Whether providers and idempotency keys can carry it. */
    public static boolean isWellFormed(String name) {
        return ALLOWED.matcher(name).matches();
    }

    public static boolean isTaken(String name) {
        return TAKEN.contains(name);
    }
}
