package dev.waymark.agent;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.Terms;
import java.time.Duration;
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
        @JsonProperty("tools") List<ToolSpec> tools,
        @JsonProperty("approvals") Optional<Approvals> approvals) {
    public static final int DEFAULT_MAX_TOKENS = 4_096;
    public static final int DEFAULT_MAX_ITERATIONS = 10;

    @JsonCreator
    public AgentSpec {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(model, "model");
        description = description == null ? Optional.empty() : description;
        instructions = instructions == null ? Optional.empty() : instructions;
        tools = List.copyOf(tools);
        approvals = approvals == null ? Optional.empty() : approvals;
    }

    /** Who decides on calls that need approval: nobody, so that they are denied at once, or people, for this long. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    public record Approvals(
            @JsonProperty("nobody") boolean nobody,
            @JsonProperty("timeout") Optional<Duration> timeout) {
        @JsonCreator
        public Approvals {
            timeout = timeout == null ? Optional.empty() : timeout;
        }
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
                List.of(tools),
                Optional.empty());
    }

    public AgentSpec withInstructions(String words) {
        return new AgentSpec(name, description, Optional.of(words), model, maxTokens, maxIterations, tools, approvals);
    }

    public AgentSpec withMaxIterations(int most) {
        return new AgentSpec(name, description, instructions, model, maxTokens, most, tools, approvals);
    }

    public AgentSpec withTools(List<ToolSpec> others) {
        return new AgentSpec(name, description, instructions, model, maxTokens, maxIterations, others, approvals);
    }

    public AgentSpec withApprovals(Approvals by) {
        return new AgentSpec(name, description, instructions, model, maxTokens, maxIterations, tools, Optional.of(by));
    }

    public Optional<ToolSpec> tool(String toolName) {
        return tools.stream().filter(tool -> tool.name().equals(toolName)).findFirst();
    }

    /** What the rules of the conversation need to know of this agent. */
    public Terms terms() {
        Map<String, Terms.ToolKind> kinds = new LinkedHashMap<>();
        Map<String, Terms.Care> care = new LinkedHashMap<>();
        for (ToolSpec tool : tools) {
            kinds.put(
                    tool.name(),
                    switch (tool.kind()) {
                        case QUESTION -> Terms.ToolKind.QUESTION;
                        case STATE -> Terms.ToolKind.STATE;
                        case SUBAGENT -> Terms.ToolKind.SUBAGENT;
                        case JAVA, COMMAND -> Terms.ToolKind.ACTIVITY;
                    });
            if (!tool.care().equals(Terms.Care.NONE)) {
                care.put(tool.name(), tool.care());
            }
        }
        return new Terms(
                name,
                maxIterations,
                kinds,
                care,
                approvals.map(
                        by -> new Terms.Approvals(by.nobody(), by.timeout().map(Duration::toMillis))));
    }
}
