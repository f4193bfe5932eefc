package dev.waymark.server.agui;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.server.front.FrontEndContent;
import dev.waymark.server.http.HttpProblem;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Converts the parts of a user's message: text, images and documents of AG-UI 1.0, and {@code binary} before 1.0. */
final class AgUiContent {
    private static final Pattern DATA_TYPE = Pattern.compile("data:([^;,]+)[;,].*", Pattern.DOTALL);

    private AgUiContent() {}

    static Message message(JsonNode content) {
        if (content.isTextual()) {
            return Message.user(content.textValue());
        }
        ArrayNode parts = PayloadJson.MAPPER.createArrayNode();
        content.forEach(part -> parts.add(part(part)));
        return FrontEndContent.message(parts);
    }

    private static JsonNode part(JsonNode part) {
        String type = part.path("type").asText();
        return switch (type) {
            case "text" -> part;
            case "image", "document" -> file(part, part.path("source"), "value");
            case "binary" -> file(part, part, part.has("data") ? "data" : "url");
            default ->
                throw HttpProblem.badInput("a part of the type \"" + type
                        + "\" cannot be sent. Send text, image or document; binary, of versions before 1.0, too");
        };
    }

    /** A file in the form that {@link FrontEndContent} reads. */
    private static ObjectNode file(JsonNode part, JsonNode source, String field) {
        String type = part.path("type").asText();
        String value = source.path(field).asText("");
        if (value.isEmpty() || source.path("type").asText().equals("file")) {
            throw HttpProblem.badInput("a part of the type \"" + type + "\" must have its content"
                    + " or its address; ids of files elsewhere cannot be read");
        }
        boolean isData = field.equals("data") || source.path("type").asText().equals("data");
        String mediaType = Optional.ofNullable(source.path("mimeType").textValue())
                .or(() -> Optional.of(DATA_TYPE.matcher(value))
                        .filter(Matcher::matches)
                        .map(found -> found.group(1)))
                .orElseThrow(() -> HttpProblem.badInput("a part of the type \"" + type + "\" has no mimeType"));
        ObjectNode file = PayloadJson.MAPPER.createObjectNode();
        file.put("type", "file");
        file.put("mediaType", mediaType);
        file.put("url", isData ? "data:" + mediaType + ";base64," + value : value);
        Optional.ofNullable(part.path("filename").textValue())
                .or(() -> Optional.ofNullable(part.at("/metadata/filename").textValue()))
                .ifPresent(name -> file.put("filename", name));
        return file;
    }

    /** The content of a message: a text, or a list of parts if the message has images. */
    static JsonNode of(Message message) {
        String text = FrontEndContent.withoutContext(message.text());
        List<ObjectNode> images =
                message.content().stream().flatMap(part -> image(part).stream()).toList();
        if (images.isEmpty()) {
            return PayloadJson.MAPPER.getNodeFactory().textNode(text);
        }
        ArrayNode parts = PayloadJson.MAPPER.createArrayNode();
        if (!text.isEmpty()) {
            parts.addObject().put("type", "text").put("text", text);
        }
        return parts.addAll(images);
    }

    private static Optional<ObjectNode> image(Part part) {
        ObjectNode document = PayloadJson.MAPPER.createObjectNode().put("type", "image");
        if (part instanceof Part.Image image) {
            ObjectNode source = document.putObject("source").put("type", "url").put("value", image.url());
            image.mimeType().ifPresent(type -> source.put("mimeType", type));
            return Optional.of(document);
        }
        if (part instanceof Part.ImageData image) {
            document.putObject("source")
                    .put("type", "data")
                    .put("value", image.data())
                    .put("mimeType", image.mimeType());
            return Optional.of(document);
        }
        return Optional.empty();
    }
}
