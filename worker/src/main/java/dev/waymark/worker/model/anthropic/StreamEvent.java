package dev.waymark.worker.model.anthropic;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;

/** An event of the stream. Its type determines which fields are set; other nodes are {@link MissingNode}, not null. */
@JsonIgnoreProperties(ignoreUnknown = true)
record StreamEvent(
        String type,
        int index,
        JsonNode message,
        @JsonProperty("content_block") JsonNode block,
        JsonNode delta,
        JsonNode usage,
        @JsonProperty("input_transformations") JsonNode transformations) {
    StreamEvent {
        type = type == null ? "" : type;
        message = orMissing(message);
        block = orMissing(block);
        delta = orMissing(delta);
        usage = orMissing(usage);
        transformations = orMissing(transformations);
    }

    private static JsonNode orMissing(JsonNode node) {
        return node == null ? MissingNode.getInstance() : node;
    }
}
