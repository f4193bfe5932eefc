package dev.waymark.conversation;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/** All that the rules of a conversation need to know of its agent. */
@JsonIgnoreProperties(ignoreUnknown = true)
public record Terms(
        @JsonProperty("agent") String agent,
        @JsonProperty("maxIterations") int maxIterations,
        @JsonProperty("tools") Map<String, ToolKind> tools) {
    @JsonCreator
    public Terms {
        Objects.requireNonNull(agent, "agent");
        tools = Collections.unmodifiableMap(new LinkedHashMap<>(tools));
    }

    /** How a call of a tool is carried out. */
    public enum ToolKind {
        /** By an activity of the tool's name. */
        @JsonProperty("activity")
        ACTIVITY,
        /** By a person: the call's {@code question} waits in the state until somebody answers. */
        @JsonProperty("question")
        QUESTION
    }
}
