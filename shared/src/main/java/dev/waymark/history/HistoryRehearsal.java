package dev.waymark.history;

import dev.waymark.agent.AgentSpec;
import dev.waymark.model.ModelProvider;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Asks agents what they would decide in recorded threads. The only implementation is in the module {@code rehearsal}.
 * Programs that must not depend on it find it with a {@link java.util.ServiceLoader}.
 */
public interface HistoryRehearsal {
    /**
     * Rehearses the thread in a file.
     *
     * @return why the rehearsal fails; empty if it passes
     */
    List<String> problems(Path file, Settings settings, InJava inJava) throws Exception;

    /** Agents that are defined in Java, and the providers by the name before the colon. */
    record InJava(List<AgentSpec> agents, Map<String, ModelProvider> providers) {
        public InJava {
            agents = List.copyOf(agents);
            providers = Map.copyOf(providers);
        }
    }

    /**
     * How a thread is rehearsed.
     *
     * @param agents the directory of the agent files
     * @param failOn conditions in the form of {@code waymark rehearse --fail-on}; empty for the default ones
     * @param allowedProviders the providers that may see the conversation although its thread did not use them
     * @param mostUsd the maximum cost of rehearsing the thread
     */
    record Settings(Path agents, List<String> failOn, Set<String> allowedProviders, BigDecimal mostUsd) {
        public Settings {
            failOn = List.copyOf(failOn);
            allowedProviders = Set.copyOf(allowedProviders);
        }
    }
}
