package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.waymark.contract.McpNames;
import dev.waymark.worker.tool.kind.Effect;
import java.util.Set;

/** The result of a request, or the reason why there is none. */
sealed interface RpcAnswer {

    record Result(JsonNode value) implements RpcAnswer {}

    /**
     * An error or an unreadable answer.
     *
     * @param effect what it shows about the effect
     * @param error the error object of the answer; missing if it has none
     */
    record Refusal(String words, Effect effect, JsonNode error) implements RpcAnswer {
        private static final Set<Integer> STATELESS =
                Set.of(McpNames.HEADER_MISMATCH, McpNames.MISSING_CAPABILITY, McpNames.UNSUPPORTED_VERSION);

        Refusal(String words, Effect effect) {
            this(words, effect, MissingNode.getInstance());
        }

        /** Whether the answer can't be read, and a retry would get the same one. */
        boolean isUnreadable() {
            return words.equals(McpChannel.TOO_LONG) || words.equals(McpChannel.UNREADABLE);
        }

        /** The error's code; 0 without one. */
        int code() {
            return error.path("code").asInt();
        }

        /** Whether only servers with stateless requests return this error. */
        boolean isOfStatelessServers() {
            return STATELESS.contains(code());
        }
    }
}
