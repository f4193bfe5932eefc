package dev.waymark.checkpoint;

import dev.waymark.conversation.Restoration;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Usage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads the {@code runner} format. */
final class RunnerReader {
    private RunnerReader() {}

    static CheckpointReader.Named read(CheckpointFields fields, Instant now) {
        fields.only("messages", "iterations", "usage", "pendingToolUseId");
        CheckpointFields used = fields.object("usage").only("inputTokens", "outputTokens");
        Usage usage = new Usage(used.total("inputTokens"), used.total("outputTokens"));
        int iterations = fields.count("iterations");
        Restoration conversation =
                new Restoration(now, false).turn(1, iterations, usage, now).counted(iterations, 0);
        fields.each("messages", RunnerReader::message)
                .forEach(message -> conversation.say(message, Optional.empty(), now));
        if (fields.has("pendingToolUseId")) {
            conversation.pending(fields.id("pendingToolUseId"));
        }
        return new CheckpointReader.Named(conversation, Optional.empty());
    }

    private static Message message(Object value, String place) {
        CheckpointFields row = CheckpointFields.of(value, place).only("role", "content");
        Role role = switch (row.text("role")) {
            case "user" -> Role.USER;
            case "assistant" -> Role.ASSISTANT;
            default -> throw row.corrupt("no such role: " + row.text("role"));
        };
        if (row.value("content") instanceof String text) {
            return new Message(role, List.of(new Part.Text(text)));
        }
        List<Part> parts = new ArrayList<>(row.each("content", RunnerReader::part));
        if (parts.isEmpty()) {
            throw row.corrupt("\"content\" is empty");
        }
        return new Message(role, parts);
    }

    private static Part part(Object value, String place) {
        CheckpointFields part = CheckpointFields.of(value, place);
        return switch (part.text("type")) {
            case "text" -> new Part.Text(part.only("type", "text").text("text"));
            case "image" -> {
                part.only("type", "url", "mimeType");
                yield new Part.Image(part.text("url"), part.optionalText("mimeType"));
            }
            case "image_base64" -> {
                part.only("type", "data", "mimeType");
                yield new Part.ImageData(part.text("data"), part.text("mimeType"));
            }
            case "reasoning" -> {
                part.only("type", "text", "metadata");
                yield new Part.Reasoning(part.text("text"), part.metadata("metadata"));
            }
            case "tool_use" -> {
                part.only("type", "id", "name", "input");
                yield new Part.ToolUse(part.id("id"), part.id("name"), part.json("input"));
            }
            case "tool_result" -> {
                part.only("type", "toolUseId", "content", "isError");
                boolean isError = part.has("isError") && part.flag("isError");
                yield new Part.ToolResult(part.id("toolUseId"), part.text("content"), isError);
            }
            default -> throw part.corrupt("no such part: " + part.text("type"));
        };
    }
}
