package dev.waymark.spring;

import dev.waymark.agent.AgentSpec;
import dev.waymark.worker.agents.AgentDefinitions;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/** The actuator endpoint {@code agents}: the same document as in {@link AgentsFile}. Not exposed unless the application says so. */
@Endpoint(id = "agents")
record AgentsEndpoint(Supplier<List<AgentSpec>> agents) {
    @ReadOperation
    Map<String, Object> read() {
        return AgentDefinitions.document(agents.get());
    }
}
