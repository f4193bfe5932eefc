package dev.waymark.springai;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.adapter.PlainTranscript;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLConnection;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.content.Media;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.util.MimeType;

/** Converts transcripts and tools to the types of Spring AI. */
final class SpringAiMapper {
    private SpringAiMapper() {}

    static Prompt prompt(ModelRequest request, ChatOptions own) throws ModelFailure {
        List<org.springframework.ai.chat.messages.Message> messages = new ArrayList<>();
        request.instructions().ifPresent(words -> messages.add(new SystemMessage(words)));
        Map<String, String> tools = new LinkedHashMap<>();
        for (Message message : PlainTranscript.alternating(request.messages())) {
            message.toolUses().forEach(use -> tools.put(use.id(), use.name()));
            if (message.role() == Role.ASSISTANT) {
                messages.add(assistant(message));
            } else {
                addUser(messages, message, tools);
            }
        }
        List<ToolCallback> declared =
                request.tools().stream().<ToolCallback>map(DeclaredTool::new).toList();
        return new Prompt(messages, RequestOptions.of(request, declared, own));
    }

    private static AssistantMessage assistant(Message message) {
        List<AssistantMessage.ToolCall> calls = message.toolUses().stream()
                .map(use -> new AssistantMessage.ToolCall(
                        PlainTranscript.accepted(use.id()),
                        "function",
                        PlainTranscript.acceptedName(use.name()),
                        json(PlainTranscript.arguments(use))))
                .toList();
        AssistantMessage.Builder translated = AssistantMessage.builder().toolCalls(calls);
        String text = message.text();
        if (!text.isEmpty() || calls.isEmpty()) {
            translated.content(PlainTranscript.worded(text));
        }
        return translated.build();
    }

    private static void addUser(
            List<org.springframework.ai.chat.messages.Message> messages, Message message, Map<String, String> tools)
            throws ModelFailure {
        List<ToolResponseMessage.ToolResponse> results = new ArrayList<>();
        List<String> texts = new ArrayList<>();
        List<Media> images = new ArrayList<>();
        for (Part part : message.content()) {
            if (part instanceof Part.ToolResult result) {
                results.add(new ToolResponseMessage.ToolResponse(
                        PlainTranscript.accepted(result.toolUseId()),
                        PlainTranscript.acceptedName(tools.getOrDefault(result.toolUseId(), "unknown")),
                        PlainTranscript.worded(result.told())));
            } else if (part instanceof Part.Text text) {
                texts.add(text.text());
            } else if (part instanceof Part.Image image) {
                images.add(new Media(
                        MimeType.valueOf(image.mimeType().orElseGet(() -> typeOf(image.url()))), address(image)));
            } else if (part instanceof Part.ImageData image) {
                images.add(new Media(
                        MimeType.valueOf(image.mimeType()),
                        new ByteArrayResource(Base64.getDecoder().decode(image.data()))));
            }
        }
        if (!results.isEmpty()) {
            messages.add(ToolResponseMessage.builder().responses(results).build());
        }
        if (!texts.isEmpty() || !images.isEmpty()) {
            messages.add(UserMessage.builder()
                    .text(PlainTranscript.worded(String.join("\n\n", texts)))
                    .media(images)
                    .build());
        }
    }

    private static URI address(Part.Image image) throws ModelFailure {
        try {
            return new URI(image.url());
        } catch (URISyntaxException e) {
            throw ModelFailure.permanent(
                    ProblemType.BAD_REQUEST, "the address of an image is not a URL: " + e.getMessage());
        }
    }

    private static String typeOf(String url) {
        return Optional.ofNullable(URLConnection.guessContentTypeFromName(url))
                .filter(type -> type.startsWith("image/"))
                .orElse("image/png");
    }

    private static String json(Json value) {
        try {
            return PayloadJson.MAPPER.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Declares a tool to the model. Spring AI must never call it, because Waymark runs the tools. */
    private record DeclaredTool(ToolSpec spec) implements ToolCallback {
        @Override
        public ToolDefinition getToolDefinition() {
            return ToolDefinition.builder()
                    .name(spec.name())
                    .description(spec.description())
                    .inputSchema(json(spec.input()))
                    .build();
        }

        @Override
        public String call(String arguments) {
            throw new IllegalStateException("Spring AI runs the tool " + spec.name() + ", which only Waymark may");
        }
    }
}
