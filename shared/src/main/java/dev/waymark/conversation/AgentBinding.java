package dev.waymark.conversation;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.value.Json;
import java.util.Objects;
import java.util.Optional;

/**
 * The agent that a thread runs, and what is known of it.
 *
 * @param agent its name, or nothing while a checkpoint did not say
 * @param agentRequested whether its definition was asked for
 * @param terms what the rules need to know of its definition, once that is there
 * @param context values that its tools are given besides their arguments
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record AgentBinding(
        @JsonProperty("agent") String agent,
        @JsonProperty("agentRequested") boolean agentRequested,
        @JsonProperty("terms") Optional<AgentPolicy> terms,
        @JsonProperty("context") Optional<Json> context) {
    public AgentBinding {
        Objects.requireNonNull(agent, "agent");
    }

    static AgentBinding to(String agent) {
        return new AgentBinding(agent, false, Optional.empty(), Optional.empty());
    }

    /** The definition was asked for and is not there yet. */
    @JsonIgnore
    boolean isResolving() {
        return agentRequested && terms.isEmpty();
    }

    /** The part while a fact changes it. */
    final class Edit {
        String agent = AgentBinding.this.agent;
        boolean agentRequested = AgentBinding.this.agentRequested;
        Optional<AgentPolicy> terms = AgentBinding.this.terms;
        Optional<Json> context = AgentBinding.this.context;

        /** How calls of a tool are handled. Nothing is known of any while the agent is not. */
        AgentPolicy.Care careOf(Call call) {
            return terms.map(known -> known.careOf(call.tool())).orElse(AgentPolicy.Care.NONE);
        }

        AgentBinding done() {
            return new AgentBinding(agent, agentRequested, terms, context);
        }
    }
}
