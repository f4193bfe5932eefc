package dev.waymark.worker.agents;

import dev.waymark.agent.AgentSpec;
import dev.waymark.worker.model.ModelProviders;
import dev.waymark.worker.tool.ToolKinds;
import dev.waymark.worker.tool.java.JavaTools;
import dev.waymark.worker.tool.mcp.McpEntry;
import dev.waymark.worker.tool.subagent.SubagentGraph;
import dev.waymark.worker.yaml.YamlProblem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The agents of a directory: every {@code *.yaml} directly in it is one, except for {@code *.script.yaml}. They are read
 * once, in the order of their files' names; an edited file counts from the worker's next start, and for new threads only,
 * since a thread's agent is recorded in its history. A directory without agents is fine: running threads need none.
 *
 * <pre>{@code
 * Path directory = Path.of("agents");
 * ModelProviders providers = ModelProviders.of(Map.of("scripted", new ScriptedProvider(directory)));
 * AgentDirectory agents = AgentDirectory.load(directory, providers, JavaTools.NONE);
 * }</pre>
 */
public final class AgentDirectory {

    private final Path path;
    private final Map<String, AgentSpec> byName;
    private final Map<String, List<McpEntry>> servers;

    private AgentDirectory(Path path, Map<String, AgentSpec> byName, Map<String, List<McpEntry>> servers) {
        this.path = path;
        this.byName = Collections.unmodifiableMap(byName);
        this.servers = Map.copyOf(servers);
    }

    /**
     * Reads and checks all of them.
     *
     * @throws NoSuchFileException when there is no such directory
     * @throws AgentInvalid for the first file with something wrong in it
     */
    public static AgentDirectory load(Path directory, ModelProviders providers, JavaTools tools)
            throws AgentInvalid, IOException {
        if (!Files.isDirectory(directory)) {
            throw new NoSuchFileException(directory.toString(), null, "no such directory");
        }
        try (ToolKinds kinds = new ToolKinds(System.getenv(), directory, tools)) {
            AgentFile reader = new AgentFile(directory, providers, tools, kinds.all());
            List<AgentFile.Definition> definitions = definitions(directory, reader);
            Map<String, List<McpEntry>> servers = new LinkedHashMap<>();
            definitions.forEach(each -> servers.put(each.agent().name(), each.servers()));
            return new AgentDirectory(directory, complete(definitions, reader), servers);
        } catch (YamlProblem e) {
            throw new AgentInvalid(e.file(), e.line(), e.field(), String.valueOf(e.getMessage()));
        }
    }

    private static List<AgentFile.Definition> definitions(Path directory, AgentFile reader)
            throws YamlProblem, IOException {
        List<AgentFile.Definition> definitions = new ArrayList<>();
        Map<String, Path> origin = new LinkedHashMap<>();
        for (Path file : files(directory)) {
            AgentFile.Definition definition = reader.read(file);
            String name = definition.agent().name();
            Path other = origin.put(name, file);
            if (other != null) {
                throw new YamlProblem(file.toString(), 1, "name", name + " is the name of " + other + " too");
            }
            definitions.add(definition);
        }
        return definitions;
    }

    private static Map<String, AgentSpec> complete(List<AgentFile.Definition> definitions, AgentFile reader)
            throws YamlProblem {
        Map<String, AgentSpec> byName = new LinkedHashMap<>();
        definitions.forEach(definition -> byName.put(definition.agent().name(), definition.agent()));
        for (AgentFile.Definition definition : definitions) {
            byName.put(definition.agent().name(), definition.complete(byName));
        }
        SubagentGraph subagents = new SubagentGraph(byName, reader::hasPrice);
        for (AgentFile.Definition definition : definitions) {
            Optional<String> problem =
                    subagents.problem(byName.get(definition.agent().name()));
            if (problem.isPresent()) {
                throw definition.problem(problem.get());
            }
        }
        return byName;
    }

    /** Agents that were made in code. Their tools' working directory is this path. */
    public static AgentDirectory of(Path path, List<AgentSpec> agents) {
        Map<String, AgentSpec> byName = new LinkedHashMap<>();
        for (AgentSpec agent : agents) {
            if (byName.put(agent.name(), agent) != null) {
                throw new IllegalArgumentException("two agents of one name: " + agent.name());
            }
        }
        SubagentGraph subagents = new SubagentGraph(byName, agent -> true);
        byName.values()
                .forEach(agent -> subagents.problem(agent).ifPresent(words -> {
                    throw new IllegalArgumentException("agent " + agent.name() + ": " + words);
                }));
        return new AgentDirectory(path, byName, Map.of());
    }

    /** Where the files are: what paths in them are relative to, and their tools' working directory. */
    public Path path() {
        return path;
    }

    public List<String> names() {
        return List.copyOf(byName.keySet());
    }

    /** With the tools that its file defines; {@link #servers} have the others. */
    public Optional<AgentSpec> find(String name) {
        return Optional.ofNullable(byName.get(name));
    }

    /** Which have more of an agent's tools, in order. */
    public List<McpEntry> servers(String name) {
        return servers.getOrDefault(name, List.of());
    }

    /** All agents by name, in order. */
    public Map<String, AgentSpec> agents() {
        return byName;
    }

    private static List<Path> files(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return new ArrayList<>(
                    entries.filter(AgentDirectory::isAgent).sorted().toList());
        }
    }

    private static boolean isAgent(Path entry) {
        String name = entry.getFileName().toString();
        return name.endsWith(AgentFile.SUFFIX) && !name.endsWith(".script.yaml") && Files.isRegularFile(entry);
    }
}
