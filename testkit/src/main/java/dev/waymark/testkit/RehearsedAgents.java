package dev.waymark.testkit;

import dev.waymark.agent.AgentSpec;
import dev.waymark.model.ModelProvider;
import java.util.List;
import java.util.Map;

/**
 * Agents that are defined in Java, and their models, for {@link RehearsedThread#javaAgents}. The class needs a constructor
 * without arguments, which may be private.
 *
 * <pre>{@code
 * final class Billing implements RehearsedAgents {
 *     @Override
 *     public List<AgentSpec> agents() {
 *         return List.of(BillingAgent.create().spec());
 *     }
 * }
 * }</pre>
 */
public interface RehearsedAgents {
    /** The agents, by the names that the threads recorded. A name must not be that of an agent file. */
    List<AgentSpec> agents();

    /** Additional model providers that the agents need, by the name before the colon. */
    default Map<String, ModelProvider> providers() {
        return Map.of();
    }
}
