package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.conversation.call.Suspension;
import dev.waymark.worker.tool.kind.Effect;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * The result of a call as text: its texts on separate lines, and a description of every other item. If it has no items,
 * the structured content is used.
 *
 * @param suspension set if the server has not finished the call
 */
public record McpResult(String text, Effect effect, Optional<Suspension> suspension) {
    static final String COMPLETE = "complete";

    McpResult(String text, Effect effect) {
        this(text, effect, Optional.empty());
    }

    static McpResult suspended(Suspension how) {
        return new McpResult("", Effect.UNKNOWN, Optional.of(how));
    }

    /** @param suspends whether the server may leave the call unfinished */
    static McpResult of(RpcAnswer answer, boolean suspends) {
        if (answer instanceof RpcAnswer.Refusal refusal) {
            return new McpResult(refusal.words(), refusal.effect());
        }
        JsonNode result = ((RpcAnswer.Result) answer).value();
        String type = result.path("resultType").asText(COMPLETE);
        if (type.equals(COMPLETE)) {
            return completed(result);
        }
        return suspends && SuspendedCall.isOfType(type)
                ? SuspendedCall.of(type, result)
                : new McpResult("its result has the type " + type + ", which is not supported", Effect.UNKNOWN);
    }

    static McpResult completed(JsonNode result) {
        JsonNode structured = result.path("structuredContent");
        List<String> parts = new ArrayList<>();
        result.path("content").forEach(part -> parts.add(words(part)));
        return new McpResult(
                parts.isEmpty() && structured.isContainerNode() ? structured.toString() : String.join("\n", parts),
                result.path("isError").asBoolean() ? Effect.OWN_ERROR : Effect.DONE);
    }

    ToolOutcome outcome() {
        return suspension.map(ToolOutcome::suspended).orElseGet(() -> effect.outcome(text));
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
