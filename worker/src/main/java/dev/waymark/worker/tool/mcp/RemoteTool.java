package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.conversation.value.Sha256;

/**
 * A tool as its server describes it.
 *
 * @param harmless whether the server claims that running it twice is harmless
 */
record RemoteTool(String name, String description, JsonNode input, boolean harmless) {

    /** A digest of what models and people are told about the tool. */
    String digest() {
        return Sha256.hex(JsonRpc.bytes(JsonRpc.object()
                .put("name", name)
                .put("description", description)
                .set("input", input)));
    }

    static RemoteTool of(JsonNode said) {
        JsonNode hints = said.path("annotations");
        return new RemoteTool(
                said.path("name").asText(),
                said.path("description").asText(said.path("title").asText("")),
                said.path("inputSchema"),
                hints.path("readOnlyHint").asBoolean()
                        || hints.path("idempotentHint").asBoolean());
    }
}
