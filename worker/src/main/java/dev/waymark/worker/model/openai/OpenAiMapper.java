package dev.waymark.worker.model.openai;

import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.adapter.AlternatingRoles;
import dev.waymark.worker.model.http.SentCall;
import dev.waymark.worker.model.http.StrictSchema;
import dev.waymark.worker.model.http.ToolChoice;
import dev.waymark.worker.model.http.WireName;
import dev.waymark.worker.model.openai.ChatRequest.ChatMessage;
import dev.waymark.worker.model.openai.ChatRequest.Content;
import dev.waymark.worker.model.openai.ChatRequest.ContentPart;
import dev.waymark.worker.model.openai.ChatRequest.NamedTool;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Converts a request to the format of chat completions. */
final class OpenAiMapper {
    private static final String BETWEEN_MESSAGES = "\n\n";

    private OpenAiMapper() {}

    /** @param newLimit whether to use the newer name of the token limit */
    static ChatRequest request(ModelRequest request, boolean newLimit) {
        List<ChatMessage> messages = new ArrayList<>();
        request.instructions()
                .filter(words -> !words.isBlank())
                .map(ChatMessage.System::new)
                .ifPresent(messages::add);
        messages.addAll(messages(request));
        Optional<Integer> limit = Optional.of(request.maxTokens());
        return new ChatRequest(
                request.model(),
                messages,
                request.tools().stream()
                        .map(tool -> ChatRequest.Tool.of(tool.name(), tool.description(), tool.input()))
                        .toList(),
                tooled(request).flatMap(ToolChoice::of).map(choice -> choice.match(word -> word, NamedTool::of)),
                tooled(request).flatMap(tools -> tools.options().parallelCalls()),
                request.replySchema().flatMap(StrictSchema::of).map(ChatRequest.ResponseFormat::of),
                newLimit ? Optional.empty() : limit,
                newLimit ? limit : Optional.empty(),
                request.options().temperature(),
                request.options().effort(),
                request.options().serviceTier(),
                request.cacheKey(),
                true,
                new ChatRequest.StreamOptions(true));
    }

    /** The request, if it has tools: without them, settings for calls are rejected. */
    static Optional<ModelRequest> tooled(ModelRequest request) {
        return Optional.of(request).filter(asked -> !asked.tools().isEmpty());
    }

    private static List<ChatMessage> messages(ModelRequest request) {
        List<ChatMessage> messages = new ArrayList<>();
        for (Message message : AlternatingRoles.alternating(request.messages(), OpenAiMapper::says)) {
            messages.addAll(
                    message.role() == Role.USER
                            ? ofPeople(message.content())
                            : List.of(ofModel(message, request.model())));
        }
        return messages;
    }

    private static boolean says(Message reply) {
        return !reply.text().isEmpty() || !reply.toolUses().isEmpty();
    }

    /** Each tool result becomes a separate message, directly after the calls and before other user content. */
    private static List<ChatMessage> ofPeople(List<Part> parts) {
        List<ChatMessage> messages = new ArrayList<>();
        List<ContentPart> content = new ArrayList<>();
        for (Part part : parts) {
            if (part instanceof Part.ToolResult result) {
                messages.add(new ChatMessage.Tool(WireName.ofCall(result.toolUseId()), result.told()));
            } else if (part instanceof Part.Text text) {
                content.add(new ContentPart.Text(text.text()));
            } else if (part instanceof Part.Image image) {
                content.add(image(image.url()));
            } else if (part instanceof Part.ImageData image) {
                content.add(image(dataUrl(image)));
            }
        }
        if (!content.isEmpty()) {
            messages.add(new ChatMessage.User(content(content)));
        }
        return messages;
    }

    /** The image as a data URL, which both APIs accept instead of an address. */
    static String dataUrl(Part.ImageData image) {
        return "data:" + image.mimeType() + ";base64," + image.data();
    }

    private static ContentPart image(String url) {
        return new ContentPart.Image(new ChatRequest.ImageUrl(url));
    }

    private static Content content(List<ContentPart> parts) {
        return parts.stream().allMatch(ContentPart.Text.class::isInstance)
                ? new Content.Words(parts.stream()
                        .map(part -> ((ContentPart.Text) part).text())
                        .collect(Collectors.joining(BETWEEN_MESSAGES)))
                : new Content.Parts(parts);
    }

    /**
     * Reasoning is sent back with the calls that it led to: some servers require that, and reject all other reasoning.
     */
    private static ChatMessage ofModel(Message message, String model) {
        List<ChatRequest.ToolCall> calls = calls(message, model);
        String thoughts = message.content().stream()
                .filter(Part.Reasoning.class::isInstance)
                .map(Part.Reasoning.class::cast)
                .filter(reasoning -> !calls.isEmpty() && ReasoningDetails.areOf(reasoning, model))
                .map(Part.Reasoning::text)
                .collect(Collectors.joining());
        return new ChatMessage.Assistant(nonEmpty(message.text()), calls, nonEmpty(thoughts));
    }

    private static List<ChatRequest.ToolCall> calls(Message message, String model) {
        List<ChatRequest.ToolCall> calls = new ArrayList<>();
        Iterator<Json> signatures = Collections.emptyIterator();
        for (Part part : message.content()) {
            if (part instanceof Part.Reasoning reasoning && ReasoningDetails.areOf(reasoning, model)) {
                signatures = ReasoningDetails.signatures(reasoning).iterator();
            } else if (part instanceof Part.ToolUse use) {
                Optional<Json> signature = signatures.hasNext() ? Optional.of(signatures.next()) : Optional.empty();
                calls.add(ChatRequest.ToolCall.of(
                        WireName.ofCall(use.id()),
                        WireName.ofTool(use.name()),
                        SentCall.text(use),
                        signature.filter(extra -> !extra.isNull())));
            }
        }
        return calls;
    }

    private static Optional<String> nonEmpty(String text) {
        return Optional.of(text).filter(words -> !words.isEmpty());
    }
}
