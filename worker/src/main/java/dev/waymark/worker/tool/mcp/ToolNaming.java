package dev.waymark.worker.tool.mcp;

import dev.waymark.agent.ToolNames;
import dev.waymark.conversation.value.Sha256;
import java.util.HashSet;
import java.util.Set;

/**
 * Gives the tools of servers names that models accept, because a server can use any name. The name is
 * {@code SERVER_TOOL} if that is valid and unused. Otherwise invalid characters are replaced, and eight digits of a
 * hash are added. The original name is recorded too, so names need not be converted back.
 */
final class ToolNaming {
    private static final int LONGEST = 64;
    private static final int DIGITS = 8;

    private final Set<String> used;

    /** @param used the names of the agent's other tools */
    ToolNaming(Set<String> used) {
        this.used = new HashSet<>(used);
    }

    /** Returns a new name on each call. */
    String name(String server, String tool) throws UnusableServerException {
        String plain = server + "_" + tool;
        if (ToolNames.isWellFormed(plain) && !ToolNames.isTaken(plain) && used.add(plain)) {
            return plain;
        }
        String readable = plain.replaceAll("[^A-Za-z0-9_-]", "_");
        String hash = Sha256.hex(server + "\n" + tool).substring(0, DIGITS);
        String name = readable.substring(0, Math.min(readable.length(), LONGEST - DIGITS - 1)) + "_" + hash;
        if (!used.add(name)) {
            throw new UnusableServerException("two tools would have the same name: " + name);
        }
        return name;
    }
}
