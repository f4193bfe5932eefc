package dev.waymark.conversation.call;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.conversation.decision.PendingItem;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The definition of a call's tool outside of the thread, such as its program or what an MCP server says about it.
 *
 * @param digest the digest of the definition for which a decision was requested
 * @param approved the digests of the definitions that people have approved for this call. There may be several, if
 *     workers have different ones.
 * @param changed whether the call was approved with another definition and therefore did not run
 */
public record ToolDefinition(
        String digest,
        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> approved,
        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean changed) {
    /** The digest for a definition that could not be determined. It differs from the digests of all definitions. */
    public static final String UNKNOWN = "unknown";

    private static final int MAX_APPROVED = 8;

    public ToolDefinition {
        Objects.requireNonNull(digest, "digest");
        approved = approved == null ? List.of() : List.copyOf(approved);
    }

    /** The digest of the arguments with this digest, and of this definition. */
    public String digestWith(String argsDigest) {
        return PendingItem.digest(argsDigest, digest);
    }

    static ToolDefinition of(String digest) {
        return new ToolDefinition(digest, List.of(), false);
    }

    ToolDefinition withApproval() {
        List<String> more = new ArrayList<>(approved);
        more.remove(digest);
        more.add(digest);
        return new ToolDefinition(digest, more.subList(Math.max(0, more.size() - MAX_APPROVED), more.size()), false);
    }

    ToolDefinition changedTo(String other) {
        return new ToolDefinition(other, approved, true);
    }
}
