package dev.waymark.contract.message;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.cfg.MutableCoercionConfig;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.type.LogicalType;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import java.util.ArrayList;
import java.util.List;

/** Reads messages that replace or begin a conversation. */
final class MessageListReader {
    /** Converts neither numbers to strings nor 1 to true. */
    static final JsonMapper STRICT = PayloadJson.MAPPER
            .rebuild()
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .withCoercionConfig(LogicalType.Textual, MessageListReader::refuseScalars)
            .withCoercionConfig(LogicalType.Boolean, MessageListReader::refuseScalars)
            .build();

    private MessageListReader() {}

    private static void refuseScalars(MutableCoercionConfig config) {
        config.setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
                .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail)
                .setCoercion(CoercionInputShape.String, CoercionAction.Fail);
    }

    static List<Message> read(JsonNode list) throws UnusableMessage {
        if (!list.isArray()) {
            throw new UnusableMessage("\"messages\" must be a list");
        }
        List<Message> messages = new ArrayList<>();
        for (JsonNode item : list) {
            messages.add(message(item, "message " + messages.size()));
        }
        return messages;
    }

    private static Message message(JsonNode item, String place) throws UnusableMessage {
        Role role = switch (item.path("role").asText()) {
            case "user" -> Role.USER;
            case "assistant" -> Role.ASSISTANT;
            default -> throw new UnusableMessage(place + ": \"role\" must be user or assistant");
        };
        JsonNode content = item.path("content");
        if (content.isTextual()) {
            return new Message(role, List.of(new Part.Text(InboundReader.limited(content.textValue()))));
        }
        if (!content.isArray() || content.isEmpty()) {
            throw new UnusableMessage(place + ": \"content\" must be a string or a list of parts");
        }
        List<Part> parts = new ArrayList<>();
        for (JsonNode part : content) {
            parts.add(part(part, place));
        }
        return new Message(role, parts);
    }

    /** Reads the images of a message. Their total size is limited like that of a text. */
    static List<Part> images(JsonNode list) throws UnusableMessage {
        if (!list.isArray() || list.isEmpty()) {
            throw new UnusableMessage("\"images\" must be a list of images");
        }
        InboundReader.limited(list.toString());
        List<Part> images = new ArrayList<>();
        for (JsonNode item : list) {
            Part image = part(item, "\"images\"");
            if (!(image instanceof Part.Image || image instanceof Part.ImageData)) {
                throw new UnusableMessage("\"images\" has a part of another type: "
                        + UnusableMessage.shorten(item.path("type").asText()));
            }
            images.add(image);
        }
        return images;
    }

    private static Part part(JsonNode part, String place) throws UnusableMessage {
        UnusableMessage unusable = new UnusableMessage(place + ": no such part, or a field of the wrong type: "
                + UnusableMessage.shorten(part.path("type").asText("without a type")));
        if (!part.isObject()) {
            throw unusable;
        }
        try {
            return said(STRICT.treeToValue(part, Part.class));
        } catch (JsonProcessingException | IllegalArgumentException e) {
            throw unusable;
        }
    }

    /** A copy without data that only providers, or edits of arguments, add to a part. */
    private static Part said(Part part) {
        if (part instanceof Part.ToolUse use) {
            return new Part.ToolUse(use.id(), use.name(), use.input());
        }
        return part instanceof Part.ToolResult result
                ? new Part.ToolResult(result.toolUseId(), result.content(), result.isError())
                : part;
    }
}
