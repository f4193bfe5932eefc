package dev.waymark.langchain4j;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ResponseFormat;
import dev.langchain4j.model.chat.request.ResponseFormatType;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.model.chat.request.json.JsonRawSchema;
import dev.langchain4j.model.chat.request.json.JsonSchema;
import dev.langchain4j.model.chat.request.json.JsonSchemaElement;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.output.FinishReason;
import dev.langchain4j.model.output.TokenUsage;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.adapter.PlainReply;
import dev.waymark.model.adapter.PlainTranscript;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Converts transcripts and tools to the types of LangChain4j, and replies back. */
final class LangChainMapper {
    private static final String MAX_TOKENS = "max_tokens";
    private static final String OTHER = "other";

    private LangChainMapper() {}

    static ChatRequest request(ModelRequest request, ModelTraits model) {
        List<ChatMessage> messages = new ArrayList<>();
        request.instructions().ifPresent(words -> messages.add(SystemMessage.from(words)));
        Map<String, String> tools = new LinkedHashMap<>();
        for (Message message : PlainTranscript.alternating(request.messages())) {
            message.toolUses().forEach(use -> tools.put(use.id(), use.name()));
            if (message.role() == Role.ASSISTANT) {
                messages.add(assistant(message, model));
            } else {
                addUser(messages, message, tools, model);
            }
        }
        List<ChatMessage> accepted = model.isGemini() ? GeminiMessages.withSingleCalls(messages) : messages;
        ChatRequest.Builder translated = ChatRequest.builder()
                .messages(model.demandsSignatures() ? GeminiMessages.withSignatures(accepted) : accepted)
                .maxOutputTokens(request.maxTokens());
        if (!request.tools().isEmpty()) {
            translated.toolSpecifications(
                    request.tools().stream().map(tool -> tool(tool, model)).toList());
        }
        replyForm(request, model)
                .ifPresent(schema -> translated.responseFormat(ResponseFormat.builder()
                        .type(ResponseFormatType.JSON)
                        .jsonSchema(schema)
                        .build()));
        return translated.build();
    }

    /**
     * The schema of the reply in Gemini's own form, which Gemini enforces while it generates. Gemini does not support
     * this in a request with tools.
     */
    private static Optional<JsonSchema> replyForm(ModelRequest request, ModelTraits model) {
        return request.replySchema()
                .filter(schema -> model.isGemini() && request.tools().isEmpty())
                .flatMap(TypedSchema::reply)
                .map(root ->
                        JsonSchema.builder().name("reply").rootElement(root).build());
    }

    private static AiMessage assistant(Message message, ModelTraits model) {
        List<ToolExecutionRequest> calls = message.toolUses().stream()
                .map(use -> ToolExecutionRequest.builder()
                        .id(PlainTranscript.accepted(use.id()))
                        .name(PlainTranscript.acceptedName(use.name()))
                        .arguments(json(PlainTranscript.arguments(use)))
                        .build())
                .toList();
        AiMessage.Builder translated = AiMessage.builder();
        String text = message.text();
        if (!text.isEmpty() || calls.isEmpty()) {
            translated.text(PlainTranscript.worded(text));
        }
        if (!calls.isEmpty()) {
            translated.toolExecutionRequests(calls);
        }
        if (!model.bindsThinking()) {
            Thinking.restore(message, model.name(), translated);
        }
        return translated.build();
    }

    private static void addUser(
            List<ChatMessage> messages, Message message, Map<String, String> tools, ModelTraits model) {
        List<Content> contents = new ArrayList<>();
        for (Part part : message.content()) {
            if (part instanceof Part.ToolResult result) {
                String name = tools.getOrDefault(result.toolUseId(), "unknown");
                messages.add(ToolExecutionResultMessage.from(
                        PlainTranscript.accepted(result.toolUseId()),
                        PlainTranscript.acceptedName(name),
                        PlainTranscript.worded(result.told())));
            } else if (part instanceof Part.Text text) {
                contents.add(TextContent.from(PlainTranscript.worded(text.text())));
            } else if (part instanceof Part.Image image) {
                // LangChain4j's Gemini module downloads images itself, from any address that the worker can reach.
                contents.add(
                        model.isGemini() && image.url().startsWith("http")
                                ? TextContent.from("(an image that cannot be shown: " + image.url() + ")")
                                : ImageContent.from(image.url()));
            } else if (part instanceof Part.ImageData image) {
                contents.add(ImageContent.from(image.data(), image.mimeType()));
            }
        }
        if (!contents.isEmpty()) {
            messages.add(UserMessage.from(contents));
        }
    }

    private static ToolSpecification tool(ToolSpec tool, ModelTraits model) {
        ToolSpecification.Builder translated =
                ToolSpecification.builder().name(tool.name()).description(tool.description());
        if (model.isGemini()) {
            TypedSchema.parameters(tool.input()).ifPresent(translated::parameters);
            return translated.build();
        }
        return translated.parameters(rawParameters(tool)).build();
    }

    /** LangChain4j has types for only a part of JSON Schema, so the schema of each argument is passed on unchanged. */
    private static JsonObjectSchema rawParameters(ToolSpec tool) {
        JsonObjectSchema.Builder schema = JsonObjectSchema.builder();
        if (tool.input().field("properties") instanceof Map<?, ?> properties) {
            properties.forEach((name, property) -> schema.addProperty(String.valueOf(name), raw(property)));
        }
        if (tool.input().field("required") instanceof List<?> required) {
            schema.required(required.stream().map(String::valueOf).toList());
        }
        if (tool.input().field("additionalProperties") instanceof Boolean additional) {
            schema.additionalProperties(additional);
        }
        if (tool.input().field("$defs") instanceof Map<?, ?> definitions) {
            Map<String, JsonSchemaElement> all = new LinkedHashMap<>();
            definitions.forEach((name, definition) -> all.put(String.valueOf(name), raw(definition)));
            schema.definitions(all);
        }
        return schema.build();
    }

    private static JsonSchemaElement raw(Object schema) {
        return JsonRawSchema.from(json(schema));
    }

    private static String json(@Nullable Object value) {
        try {
            return PayloadJson.MAPPER.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    static Usage usage(ChatResponse response, ModelTraits model) {
        TokenUsage usage = response.tokenUsage();
        if (usage == null) {
            return Usage.NONE;
        }
        long input = count(usage.inputTokenCount());
        long output = count(usage.outputTokenCount());
        // Gemini counts thinking only in the total, and charges it like output.
        long rest = model.isGemini() ? count(usage.totalTokenCount()) - input : 0;
        return new Usage(input, Math.max(output, rest));
    }

    private static long count(@Nullable Integer tokens) {
        return tokens == null ? 0 : tokens;
    }

    static Reply reply(ChatResponse response, ModelTraits model) throws ModelFailure {
        AiMessage message = response.aiMessage();
        List<PlainReply.Call> calls = message.toolExecutionRequests().stream()
                .map(call -> new PlainReply.Call(call.id(), call.name(), call.arguments()))
                .toList();
        Reply reply = PlainReply.of(
                message.text(), calls, usage(response, model), stop(response.finishReason(), !calls.isEmpty()));
        if (reply.stop().equals(OTHER) && reply.content().isEmpty()) {
            // Gemini returns this if it generated a call that it could not parse itself. A retry is likely to succeed.
            throw ModelFailure.passing(ProblemType.MALFORMED_REPLY, "the reply has neither text nor calls");
        }
        return Thinking.of(message, model.name())
                .map(thinking -> behind(thinking, reply))
                .orElse(reply);
    }

    private static Reply behind(Part.Reasoning thinking, Reply reply) {
        List<Part> parts = new ArrayList<>();
        parts.add(thinking);
        parts.addAll(reply.content());
        return new Reply(parts, reply.usage(), reply.stop()).withFaults(reply.faults());
    }

    private static String stop(FinishReason reason, boolean calls) throws ModelFailure {
        if (reason == null) {
            // A stream that breaks off looks like this, so the text so far may be only a part of the reply.
            throw ModelFailure.passing(ProblemType.STREAM_CUT, "the reply ended without a reason");
        }
        return switch (reason) {
            case STOP, TOOL_EXECUTION -> calls ? "tool_use" : "end_turn";
            case LENGTH -> {
                if (calls) {
                    throw ModelFailure.permanent(
                            ProblemType.CALL_CUT, "the reply reached the limit of tokens in the middle of its calls");
                }
                yield MAX_TOKENS;
            }
            case CONTENT_FILTER -> throw ModelFailure.permanent(ProblemType.REFUSED, "the provider refuses to answer");
            case OTHER -> OTHER;
        };
    }
}
