package dev.waymark.agent;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.Terms;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * An agent as one thread knows it. It is the result of the {@code agent} activity, so its fields are only ever added
 * to, and it holds no secret: {@code ${NAME}} stays as it is written.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record AgentSpec(
        @JsonProperty("name") String name,
        @JsonProperty("description") Optional<String> description,
        @JsonProperty("instructions") Optional<String> instructions,
        @JsonProperty("model") String model,
        @JsonProperty("maxTokens") int maxTokens,
        @JsonProperty("maxIterations") int maxIterations,
        @JsonProperty("tools") List<ToolSpec> tools) {
    public static final int DEFAULT_MAX_TOKENS = 4_096;
    public static final int DEFAULT_MAX_ITERATIONS = 10;

    @JsonCreator
    public AgentSpec {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(model, "model");
        description = description == null ? Optional.empty() : description;
        instructions = instructions == null ? Optional.empty() : instructions;
        tools = List.copyOf(tools);
    }

    /** The smallest agent: a name and a model, everything else by default. */
    public static AgentSpec of(String name, String model, ToolSpec... tools) {
        return new AgentSpec(
                name,
                Optional.empty(),
                Optional.empty(),
                model,
                DEFAULT_MAX_TOKENS,
                DEFAULT_MAX_ITERATIONS,
                List.of(tools));
    }

    public AgentSpec withInstructions(String words) {
        return new AgentSpec(name, description, Optional.of(words), model, maxTokens, maxIterations, tools);
    }

    public AgentSpec withMaxIterations(int most) {
        return new AgentSpec(name, description, instructions, model, maxTokens, most, tools);
    }

    public Optional<ToolSpec> tool(String toolName) {
        return tools.stream().filter(tool -> tool.name().equals(toolName)).findFirst();
    }

    /** What the rules of the conversation need to know of this agent. */
    public Terms terms() {
        Map<String, Terms.ToolKind> kinds = new LinkedHashMap<>();
        for (ToolSpec tool : tools) {
            boolean asks = tool.kind() == ToolSpec.Kind.QUESTION;
            kinds.put(tool.name(), asks ? Terms.ToolKind.QUESTION : Terms.ToolKind.ACTIVITY);
        }
        return new Terms(name, maxIterations, kinds);
    }
}
