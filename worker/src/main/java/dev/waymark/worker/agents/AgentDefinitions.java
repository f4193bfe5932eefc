package dev.waymark.worker.agents;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.worker.yaml.YamlProblem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Agents in one JSON document. The commands {@code gate} and {@code rehearse} read it in place of agent files, so that
 * agents that exist only in Java can be checked before they are deployed. Values of secrets are not part of a
 * definition.
 *
 * <pre>{@code
 * AgentDefinitions.write(Path.of("agents.json"), List.of(billing.spec()));
 * // waymark gate --agents agents.json
 * }</pre>
 */
public final class AgentDefinitions {
    private static final String AGENTS = "agents";

    private AgentDefinitions() {}

    /** Writes these agents to a file, and replaces it. */
    public static void write(Path file, Collection<AgentSpec> agents) throws IOException {
        Files.writeString(file, PayloadJson.MAPPER.writeValueAsString(document(agents)) + "\n");
    }

    /** Returns the document, as JSON-compatible values. */
    public static Map<String, Object> document(Collection<AgentSpec> agents) {
        return PayloadJson.MAPPER.convertValue(
                Map.of(AGENTS, List.copyOf(agents)), new TypeReference<Map<String, Object>>() {});
    }

    /**
     * Reads the agents of a file.
     *
     * @throws AgentInvalid if the file is not such a document, or the agents cannot be used together
     */
    public static AgentDirectory read(Path file) throws AgentInvalid, IOException {
        try {
            JsonNode agents =
                    PayloadJson.MAPPER.readTree(Files.readString(file)).path(AGENTS);
            if (!agents.isArray()) {
                throw invalid(file, "expected a JSON object with a list of agents. Write it again");
            }
            return AgentDirectory.of(
                    Objects.requireNonNull(file.toAbsolutePath().getParent()),
                    PayloadJson.MAPPER.convertValue(agents, new TypeReference<List<AgentSpec>>() {}));
        } catch (JsonProcessingException e) {
            throw invalid(file, "not JSON: " + e.getOriginalMessage());
        } catch (IllegalArgumentException e) {
            throw invalid(file, String.valueOf(e.getMessage()));
        }
    }

    private static AgentInvalid invalid(Path file, String words) {
        return new AgentInvalid(new YamlProblem(file.toString(), 1, "", words));
    }
}
