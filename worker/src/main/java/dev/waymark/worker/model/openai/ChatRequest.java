package dev.waymark.worker.model.openai;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonValue;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.model.http.StrictSchema;
import java.util.List;
import java.util.Optional;

/**
 * The body of {@code POST /v1/chat/completions}. Exactly one of the two token limits is set: the one that the server
 * accepts.
 */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
record ChatRequest(
        String model,
        List<ChatMessage> messages,
        List<Tool> tools,
        @JsonProperty("tool_choice") Optional<Object> toolChoice,
        @JsonProperty("parallel_tool_calls") Optional<Boolean> parallelToolCalls,
        @JsonProperty("response_format") Optional<ResponseFormat> responseFormat,
        @JsonProperty("max_tokens") Optional<Integer> maxTokens,
        @JsonProperty("max_completion_tokens") Optional<Integer> maxCompletionTokens,
        Optional<Double> temperature,
        @JsonProperty("reasoning_effort") Optional<String> reasoningEffort,
        @JsonProperty("service_tier") Optional<String> serviceTier,
        @JsonProperty("prompt_cache_key") Optional<String> promptCacheKey,
        boolean stream,
        @JsonProperty("stream_options") StreamOptions streamOptions) {

    record StreamOptions(@JsonProperty("include_usage") boolean includeUsage) {}

    /** The form of a reply without calls. */
    record ResponseFormat(
            String type, @JsonProperty("json_schema") ReplySchema jsonSchema) {
        static ResponseFormat of(StrictSchema strict) {
            return new ResponseFormat("json_schema", new ReplySchema("reply", strict.schema(), strict.complete()));
        }
    }

    record ReplySchema(String name, Json schema, boolean strict) {}

    /** Demands a call of this tool. */
    record NamedTool(String type, ToolName function) {
        static NamedTool of(String name) {
            return new NamedTool("function", new ToolName(name));
        }
    }

    record ToolName(String name) {}

    record Tool(String type, Function function) {
        static Tool of(String name, String description, Json parameters) {
            return new Tool("function", new Function(name, description, parameters));
        }
    }

    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    record Function(String name, String description, Json parameters) {}

    /** A message, with one of four roles. */
    sealed interface ChatMessage {
        @JsonProperty("role")
        String role();

        record System(String content) implements ChatMessage {
            @Override
            public String role() {
                return "system";
            }
        }

        record User(Content content) implements ChatMessage {
            @Override
            public String role() {
                return "user";
            }
        }

        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        record Assistant(
                Optional<String> content,
                @JsonProperty("tool_calls") List<ToolCall> toolCalls,
                @JsonProperty("reasoning_content") Optional<String> reasoningContent)
                implements ChatMessage {
            @Override
            public String role() {
                return "assistant";
            }
        }

        record Tool(@JsonProperty("tool_call_id") String toolCallId, String content) implements ChatMessage {
            @Override
            public String role() {
                return "tool";
            }
        }
    }

    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    record ToolCall(
            String id,
            String type,
            Called function,
            @JsonProperty("extra_content") Optional<Json> extra) {
        static ToolCall of(String id, String name, String arguments, Optional<Json> extra) {
            return new ToolCall(id, "function", new Called(name, arguments), extra);
        }
    }

    record Called(String name, String arguments) {}

    /** Text alone is sent as a string, which every server accepts; text with images is a list. */
    sealed interface Content {
        record Words(@JsonValue String text) implements Content {}

        record Parts(@JsonValue List<ContentPart> parts) implements Content {}
    }

    sealed interface ContentPart {
        @JsonProperty("type")
        String type();

        record Text(String text) implements ContentPart {
            @Override
            public String type() {
                return "text";
            }
        }

        record Image(@JsonProperty("image_url") ImageUrl imageUrl) implements ContentPart {
            @Override
            public String type() {
                return "image_url";
            }
        }
    }

    record ImageUrl(String url) {}
}
