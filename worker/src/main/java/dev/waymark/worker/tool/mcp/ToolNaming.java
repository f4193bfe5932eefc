package dev.waymark.worker.tool.mcp;

import dev.waymark.conversation.value.Sha256;
import dev.waymark.worker.tool.kind.ToolNames;
import java.util.HashSet;
import java.util.Set;

/**
 * Names that models can be told, for tools whose servers may call them anything: {@code SERVER_TOOL} where that is short
 * and plain enough and nobody else has it, else what is plain of it and eight digits of a hash. What a name stands for is
 * recorded beside it, so nothing has to be read back from it.
 */
final class ToolNaming {
    private static final int LONGEST = 64;
    private static final int DIGITS = 8;

    private final Set<String> used;

    /** @param used the names of the agent's other tools */
    ToolNaming(Set<String> used) {
        this.used = new HashSet<>(used);
    }

    /** Another one each time. */
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
