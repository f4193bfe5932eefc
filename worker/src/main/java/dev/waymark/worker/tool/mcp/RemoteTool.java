package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Sha256;

/**
 * A tool as its server describes it.
 *
 * @param harmless whether the server claims that running it twice is harmless
 */
record RemoteTool(String name, String description, JsonNode input, boolean harmless) {
    private static final ObjectWriter SORTED =
            PayloadJson.MAPPER.writer().with(JsonNodeFeature.WRITE_PROPERTIES_SORTED);

    /** A digest of the tool's description for models and people. The order of the schema's fields does not matter. */
    String digest() {
        ObjectNode told = JsonRpc.object().put("name", name).put("description", description);
        try {
            return Sha256.hex(SORTED.writeValueAsBytes(told.set("input", input)));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
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
