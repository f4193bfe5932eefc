package dev.waymark.agent;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.Json;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A tool of an agent: what the model is told of it, and how it is run.
 *
 * <p>{@code safeToRetry} says that running twice is harmless. It is about a lost outcome and not about network errors:
 * an error that the tool itself reports is its result.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record ToolSpec(
        @JsonProperty("name") String name,
        @JsonProperty("description") String description,
        @JsonProperty("input") Json input,
        @JsonProperty("kind") Kind kind,
        @JsonProperty("safeToRetry") boolean safeToRetry,
        @JsonProperty("timeout") Duration timeout,
        @JsonProperty("command") List<String> command,
        @JsonProperty("env") Map<String, String> env) {
    public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(60);

    /** Where a tool is carried out. The names are stored. */
    public enum Kind {
        /** A person answers. */
        @JsonProperty("question")
        QUESTION,
        /** A Java object that the worker was built with. */
        @JsonProperty("java")
        JAVA,
        /** A program, started by the worker. */
        @JsonProperty("command")
        COMMAND
    }

    @JsonCreator
    public ToolSpec {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(kind, "kind");
        description = description == null ? "" : description;
        input = input == null ? Json.of(Map.of("type", "object")) : input;
        timeout = timeout == null ? DEFAULT_TIMEOUT : timeout;
        command = command == null ? List.of() : List.copyOf(command);
        env = env == null ? Map.of() : Collections.unmodifiableMap(new LinkedHashMap<>(env));
    }

    /** The built-in tool by which a model asks a person something. */
    public static ToolSpec askUser() {
        Map<String, Object> input = new LinkedHashMap<>();
        input.put("type", "object");
        input.put("properties", Map.of("question", Map.of("type", "string")));
        input.put("required", List.of("question"));
        return new ToolSpec(
                "ask_user",
                "Ask the human a question and wait for the answer.",
                Json.of(input),
                Kind.QUESTION,
                true,
                DEFAULT_TIMEOUT,
                List.of(),
                Map.of());
    }
}
