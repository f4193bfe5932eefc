package dev.waymark.checkpoint;

import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.rule.Restoration;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.value.Usage;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Reads the {@code runner} format. */
final class RunnerReader {
    private final CallIds ids = new CallIds();

    private RunnerReader() {}

    static CheckpointReader.Named read(CheckpointFields fields, Instant now) {
        return new RunnerReader().named(fields, now);
    }

    private CheckpointReader.Named named(CheckpointFields fields, Instant now) {
        CheckpointFields used = fields.object("usage");
        Usage usage = new Usage(used.total("inputTokens"), used.total("outputTokens"));
        int iterations = fields.count("iterations");
        Restoration conversation =
                Rules.restore(now, false).turn(1, iterations, usage, now).counted(iterations, 0);
        fields.some("messages", this::message).forEach(message -> conversation.say(message, Optional.empty(), now));
        ids.endReply();
        fields.optionalId("pendingToolUseId")
                .ifPresent(id -> conversation.pending(ids.find(id)
                        .orElseThrow(() -> fields.corrupt("\"pendingToolUseId\" is the id of no call: " + id))));
        return new CheckpointReader.Named(conversation, Optional.empty());
    }

    private Message message(Object value, String place) {
        CheckpointFields row = CheckpointFields.of(value, place);
        row.checkThatCallsAreIn("\"content\", as parts of type \"tool_use\"");
        Role role = switch (row.text("role")) {
            // The agent's own instructions are not among the messages, so a system message is part of the conversation.
            case "user", "system" -> Role.USER;
            case "assistant" -> Role.ASSISTANT;
            default -> throw row.corrupt("no such role: " + row.text("role"));
        };
        if (role == Role.ASSISTANT) {
            ids.beginReply();
        }
        return row.value("content") instanceof String text
                ? new Message(role, List.of(new Part.Text(text)))
                : new Message(role, row.each("content", this::part));
    }

    private Part part(Object value, String place) {
        CheckpointFields part = CheckpointFields.of(value, place);
        return switch (part.text("type")) {
            case "text" -> new Part.Text(part.text("text"));
            case "image" -> new Part.Image(part.text("url"), part.optionalText("mimeType"));
            case "image_base64" -> new Part.ImageData(part.text("data"), part.text("mimeType"));
            case "reasoning" -> new Part.Reasoning(part.text("text"), part.metadata("metadata"));
            case "tool_use" -> {
                String tool = part.id("name");
                yield new Part.ToolUse(
                        ids.call(Optional.of(part.id("id")), tool), tool, FileArguments.read(part, "input"));
            }
            case "tool_result" -> {
                String callId = ids.result(Optional.of(part.id("toolUseId")), Optional.empty())
                        .orElseThrow();
                yield new Part.ToolResult(callId, part.text("content"), part.optionalFlag("isError"));
            }
            default -> throw part.corrupt("no such part: " + part.text("type"));
        };
    }
}
