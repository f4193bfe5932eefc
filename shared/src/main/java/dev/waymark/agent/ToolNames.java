package dev.waymark.agent;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Valid names for tools and agents: {@code [A-Za-z0-9_-]{1,64}}; those of tools must not be reserved. */
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

    /** Why a name is not well-formed; empty if it is. */
    public static Optional<String> problem(String name) {
        return isWellFormed(name)
                ? Optional.empty()
                : Optional.of("a name has 1 to 64 characters A-Z a-z 0-9 _ -, found \"" + name + "\"");
    }

    /** Whether providers and idempotency keys can contain the name. */
    public static boolean isWellFormed(String name) {
        return ALLOWED.matcher(name).matches();
    }

    /** Whether the name is reserved: that of a built-in tool, or of another activity of a thread. */
    public static boolean isTaken(String name) {
        return TAKEN.contains(name);
    }
}
