package dev.waymark.contract.work;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * The input of the {@code agent} activity, which returns the agent's definition. The definition applies to the thread's
 * whole life.
 *
 * @param rules the version of the thread's rules; omitted if it is 1
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
