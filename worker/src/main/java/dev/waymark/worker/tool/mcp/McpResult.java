package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.worker.tool.kind.Effect;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * The result of a call as text: its texts on separate lines, and a description of every other item. If it has no items,
 * the structured content is used.
 */
public record McpResult(String text, Effect effect) {
    private static final String COMPLETE = "complete";

    static McpResult of(RpcAnswer answer) {
        if (answer instanceof RpcAnswer.Refusal refusal) {
            return new McpResult(refusal.words(), refusal.effect());
        }
        JsonNode result = ((RpcAnswer.Result) answer).value();
        String type = result.path("resultType").asText(COMPLETE);
        if (!type.equals(COMPLETE)) {
            return new McpResult("its result has the type " + type + ", which is not understood here", Effect.UNKNOWN);
        }
        JsonNode structured = result.path("structuredContent");
        List<String> parts = new ArrayList<>();
        result.path("content").forEach(part -> parts.add(words(part)));
        return new McpResult(
                parts.isEmpty() && structured.isContainerNode() ? structured.toString() : String.join("\n", parts),
                result.path("isError").asBoolean() ? Effect.OWN_ERROR : Effect.DONE);
    }

    private static String words(JsonNode part) {
        String type = part.path("type").asText("");
        return switch (type) {
            case "text" -> part.path("text").asText("");
            case "image", "audio" ->
                "[" + type + " " + part.path("mimeType").asText("") + ", " + bytes(part.path("data")) + " bytes]";
            case "resource" -> resource(part.path("resource"));
            case "resource_link" ->
                "[resource " + part.path("uri").asText("") + ": "
                        + part.path("name").asText("") + "]";
            default -> "[" + type + "]";
        };
    }

    private static String resource(JsonNode resource) {
        return resource.has("text")
                ? resource.path("text").asText("")
                : "[resource " + resource.path("uri").asText("") + " "
                        + resource.path("mimeType").asText("") + ", " + bytes(resource.path("blob")) + " bytes]";
    }

    private static int bytes(JsonNode base64) {
        try {
            return Base64.getMimeDecoder().decode(base64.asText("")).length;
        } catch (IllegalArgumentException e) {
            return base64.asText("").length();
        }
    }
}
