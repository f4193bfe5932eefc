package dev.waymark.contract.work;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * The input of the {@code agent} activity, which returns the agent's definition. The definition applies to the thread's
 * whole life.
 *
 * @param rules the version of the thread's rules
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record AgentInput(
        @JsonProperty("agent") String agent,
        @JsonProperty("rules") int rules) implements ActivityInput {
    @Override
    public Work.Agent work() {
        return new Work.Agent();
    }
}
