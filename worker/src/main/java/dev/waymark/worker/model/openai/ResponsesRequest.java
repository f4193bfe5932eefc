package dev.waymark.worker.model.openai;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonValue;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.model.http.StrictSchema;
import java.util.List;
import java.util.Optional;

/** The body of {@code POST /v1/responses}. The service stores nothing: each request has the whole conversation. */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
record ResponsesRequest(
        String model,
        Optional<String> instructions,
        List<Item> input,
        List<Tool> tools,
        @JsonProperty("tool_choice") Optional<Object> toolChoice,
        @JsonProperty("parallel_tool_calls") Optional<Boolean> parallelToolCalls,
        Optional<Text> text,
        @JsonProperty("max_output_tokens") int maxOutputTokens,
        Optional<Double> temperature,
        Optional<Reasoning> reasoning,
        @JsonProperty("service_tier") Optional<String> serviceTier,
        @JsonProperty("prompt_cache_key") Optional<String> promptCacheKey,
        List<String> include,
        boolean store,
        boolean stream) {

    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    record Reasoning(Optional<String> effort, Optional<String> summary) {}

    /** The form of a reply without calls. */
    record Text(Format format) {
        static Text of(StrictSchema strict) {
            return new Text(new Format("json_schema", "reply", strict.schema(), strict.complete()));
        }
    }

    record Format(String type, String name, Json schema, boolean strict) {}

    /** Demands a call of this tool. */
    record NamedTool(String type, String name) {
        static NamedTool of(String name) {
            return new NamedTool("function", name);
        }
    }

    /** A tool. Any schema is allowed, because {@code strict} is off. */
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    record Tool(String type, String name, String description, Json parameters, boolean strict) {
        static Tool of(String name, String description, Json parameters) {
            return new Tool("function", name, description, parameters, false);
        }
    }

    /** An item of the conversation: a message, a call, the output of a call, or reasoning. */
    sealed interface Item {
        record User(List<Content> content) implements Item {
            @JsonProperty("role")
            String role() {
                return "user";
            }
        }

        /** A message of the model, with the phase that the model gave it. */
        @JsonInclude(JsonInclude.Include.NON_ABSENT)
        record Assistant(String content, Optional<String> phase) implements Item {
            @JsonProperty("role")
            String role() {
                return "assistant";
            }
        }

        record Call(@JsonProperty("call_id") String callId, String name, String arguments) implements Item {
            @JsonProperty("type")
            String type() {
                return "function_call";
            }
        }

        record Output(@JsonProperty("call_id") String callId, String output) implements Item {
            @JsonProperty("type")
            String type() {
                return "function_call_output";
            }
        }

        /** Encrypted reasoning of an earlier reply, as the service sent it. */
        record Thought(@JsonValue Json item) implements Item {}
    }

    /** A part of a user message. */
    sealed interface Content {
        record Text(String text) implements Content {
            @JsonProperty("type")
            String type() {
                return "input_text";
            }
        }

        record Image(@JsonProperty("image_url") String url, String detail) implements Content {
            static Image of(String url) {
                return new Image(url, "auto");
            }

            @JsonProperty("type")
            String type() {
                return "input_image";
            }
        }
    }
}
