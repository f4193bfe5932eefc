package dev.waymark.conversation.state;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.value.Json;
import java.util.Objects;
import java.util.Optional;

/**
 * The agent of a thread, and what is known about it.
 *
 * @param agent its name; empty if a checkpoint did not name it
 * @param agentRequested whether its definition was requested
 * @param policy the parts of its definition that the rules need, once it is resolved
 * @param context values for its tools in addition to their arguments
 */
public record AgentBinding(
        String agent,
        boolean agentRequested,
        @JsonProperty("terms") Optional<AgentPolicy> policy,
        Optional<Json> context) {
    public AgentBinding {
        Objects.requireNonNull(agent, "agent");
    }

    public static AgentBinding to(String agent) {
        return new AgentBinding(agent, false, Optional.empty(), Optional.empty());
    }

    /** Whether the definition was requested and has not arrived. */
    @JsonIgnore
    public boolean isResolving() {
        return agentRequested && policy.isEmpty();
    }

    /** A mutable copy of this part, for applying a fact. */
    public final class Edit {
        public String agent = AgentBinding.this.agent;
        public boolean agentRequested = AgentBinding.this.agentRequested;
        public Optional<AgentPolicy> policy = AgentBinding.this.policy;
        public Optional<Json> context = AgentBinding.this.context;

        /** The policy of the call's tool; the default while the agent is unknown. */
        public AgentPolicy.ToolPolicy policyOf(Call call) {
            return policy.map(known -> known.policyOf(call.tool())).orElse(AgentPolicy.ToolPolicy.NONE);
        }

        /** Returns the original object if nothing was changed, so that the versions in a timeline share it. */
        public AgentBinding done() {
            boolean isUnchanged = agent.equals(AgentBinding.this.agent)
                    && agentRequested == AgentBinding.this.agentRequested
                    && policy == AgentBinding.this.policy
                    && context == AgentBinding.this.context;
            return isUnchanged ? AgentBinding.this : new AgentBinding(agent, agentRequested, policy, context);
        }
    }
}
