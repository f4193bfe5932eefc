package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;

/** What the {@code agent} activity is given. It returns the agent's definition, once for a thread. */
@JsonIgnoreProperties(ignoreUnknown = true)
public record AgentInput(@JsonProperty("agent") String agent) {
    @JsonCreator
    public AgentInput {}
}
