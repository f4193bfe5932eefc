package dev.waymark.worker.judge;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import java.time.Duration;
import java.util.Optional;

/** Looks up the current definitions of tools outside of the agent's recorded definition. Thread-safe. */
public interface CurrentDefinitions {
    /** For workers whose tools are defined by the agent alone. */
    CurrentDefinitions NONE = (agent, tool, patience, onlyAtHand) -> Optional.empty();

    /**
     * The digest of the current definition of this agent's tool; empty if it has none, or if the lookup takes longer
     * than this time.
     *
     * @param onlyAtHand whether to give up at once if a connection has to be opened first
     */
    Optional<String> digest(AgentSpec agent, ToolSpec tool, Duration patience, boolean onlyAtHand)
            throws InterruptedException;
}
