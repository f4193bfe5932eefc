package dev.waymark.worker.model.anthropic;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonValue;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.model.http.StrictSchema;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The body of {@code POST /v1/messages}. */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
record MessagesRequest(
        String model,
        @JsonProperty("max_tokens") int maxTokens,
        List<Block.Text> system,
        List<Message> messages,
        List<Tool> tools,
        @JsonProperty("tool_choice") Optional<ToolChoice> toolChoice,
        Optional<Double> temperature,
        Optional<Thinking> thinking,
        @JsonProperty("output_config") Optional<OutputConfig> outputConfig,
        @JsonProperty("service_tier") Optional<String> serviceTier,
        boolean stream) {

    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    record Thinking(
            String type, @JsonProperty("budget_tokens") Optional<Integer> budgetTokens, Optional<String> display) {}

    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    record OutputConfig(Optional<String> effort, Optional<Format> format) {}

    /** The form of a reply without calls. */
    record Format(String type, Json schema) {
        static Format of(StrictSchema strict) {
            return new Format("json_schema", strict.schema());
        }
    }

    /** Whether the model has to call a tool, and whether it may call several at once. */
    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    record ToolChoice(
            String type,
            Optional<String> name,
            @JsonProperty("disable_parallel_tool_use") Optional<Boolean> single) {}

    record Message(String role, List<Block> content) {}

    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    record Tool(
            String name,
            String description,
            @JsonProperty("input_schema") Json inputSchema,
            @JsonProperty("cache_control") Optional<CacheMark> cache) {
        Tool marked(CacheMark mark) {
            return new Tool(name, description, inputSchema, Optional.of(mark));
        }
    }

    /** Marks the request up to here for the provider's prompt cache. */
    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    record CacheMark(String type, Optional<String> ttl) {
        /** @param ttl how long the cache is kept, if it is not five minutes */
        static CacheMark lasting(Optional<String> ttl) {
            return new CacheMark("ephemeral", ttl);
        }
    }

    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    record Source(
            String type,
            Optional<String> url,
            @JsonProperty("media_type") Optional<String> mediaType,
            Optional<String> data) {
        static Source url(String url) {
            return new Source("url", Optional.of(url), Optional.empty(), Optional.empty());
        }

        static Source base64(String mediaType, String data) {
            return new Source("base64", Optional.empty(), Optional.of(mediaType), Optional.of(data));
        }
    }

    /** A content block. Blocks of user messages can have a cache mark. */
    sealed interface Block {
        @JsonInclude(JsonInclude.Include.NON_ABSENT)
        record Text(
                String text, @JsonProperty("cache_control") Optional<CacheMark> cache) implements Block {
            static Text of(String text) {
                return new Text(text, Optional.empty());
            }

            @JsonProperty("type")
            String type() {
                return "text";
            }

            @Override
            public Text marked(CacheMark mark) {
                return new Text(text, Optional.of(mark));
            }
        }

        @JsonInclude(JsonInclude.Include.NON_ABSENT)
        record Image(
                Source source,
                @JsonProperty("cache_control") Optional<CacheMark> cache) implements Block {
            @JsonProperty("type")
            String type() {
                return "image";
            }

            @Override
            public Image marked(CacheMark mark) {
                return new Image(source, Optional.of(mark));
            }
        }

        @JsonInclude(JsonInclude.Include.NON_ABSENT)
        record ToolResult(
                @JsonProperty("tool_use_id") String toolUseId,
                String content,

                @JsonProperty("is_error") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
                boolean isError,

                @JsonProperty("cache_control") Optional<CacheMark> cache)
                implements Block {
            @JsonProperty("type")
            String type() {
                return "tool_result";
            }

            @Override
            public ToolResult marked(CacheMark mark) {
                return new ToolResult(toolUseId, content, isError, Optional.of(mark));
            }
        }

        /** @param input the arguments, as {@link Json} or as the JSON text that the service sent */
        record ToolUse(
                String id,
                String name,
                Object input,
                @JsonAnyGetter Map<String, Object> others) implements Block {
            @JsonProperty("type")
            String type() {
                return "tool_use";
            }
        }

        /** A block that the model sent in an earlier reply, see {@link OpaqueBlock}. */
        record Own(@JsonValue Json block) implements Block {}

        default Block marked(CacheMark mark) {
            return this;
        }
    }
}
