package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * What the {@code agent} activity is given. It returns the agent's definition, once for a thread.
 *
 * @param rules that the thread goes by; left out where these are the first
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record AgentInput(
        @JsonProperty("agent") String agent,

        @JsonProperty("rules") @JsonInclude(value = JsonInclude.Include.CUSTOM, valueFilter = One.class)
        int rules)
        implements ActivityInput {
    @JsonCreator
    public AgentInput {
        rules = rules == 0 ? 1 : rules;
    }

    @Override
    public Work.Agent work() {
        return new Work.Agent();
    }
}
