package dev.waymark.worker.tool;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** How long each tool of an agent took when it last ran in this worker. Thread-safe. */
final class ToolTimes {
    private final Map<Key, Duration> last = new ConcurrentHashMap<>();

    private record Key(String agent, String tool) {}

    void took(AgentSpec agent, ToolSpec tool, Duration time) {
        last.put(new Key(agent.name(), tool.name()), time);
    }

    /** Whether the tool took longer when it last ran; false if it has not run here. */
    boolean wasSlowerThan(Duration limit, AgentSpec agent, ToolSpec tool) {
        return last.getOrDefault(new Key(agent.name(), tool.name()), Duration.ZERO)
                        .compareTo(limit)
                > 0;
    }
}
