package dev.waymark.worker.agents;

import dev.waymark.agent.AgentSpec;
import dev.waymark.annotation.Internal;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.ToolKinds;
import dev.waymark.worker.tool.java.JavaTools;
import dev.waymark.worker.tool.mcp.McpEntry;
import dev.waymark.worker.tool.skill.SkillFolders;
import dev.waymark.worker.tool.subagent.SubagentFields;
import dev.waymark.worker.tool.subagent.SubagentGraph;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlProblems;
import dev.waymark.worker.yaml.YamlValue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A snapshot of the agents in a directory: every {@code *.yaml} directly in it, except {@code *.script.yaml} and
 * {@code *.checks.yaml}, ordered by file name. {@link #reread} takes a new snapshot. A worker rereads the files when a
 * thread starts; running threads keep the agent recorded in their history. The directory may be empty.
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
    private final Optional<Source> source;
    /**
     * Agents defined in Java, which are kept when the files are reread. They can use agents of files as subagents, and
     * the other way round.
     */
    private final List<AgentSpec> inCode;

    private AgentDirectory(
            Path path,
            Map<String, AgentSpec> byName,
            Map<String, List<McpEntry>> servers,
            Optional<Source> source,
            List<AgentSpec> inCode) {
        this.inCode = List.copyOf(inCode);
        this.path = path;
        this.byName = Collections.unmodifiableMap(byName);
        this.servers = Map.copyOf(servers);
        this.source = source;
    }

    /**
     * The files that agents are read from, their last valid definitions, and everything that is needed to reread them.
     */
    private record Source(
            ModelProviders providers,
            JavaTools tools,
            Map<Path, FileVersion> files,
            Map<Path, AgentFile.Definition> definitions) {}

    /** Identifies a version of a file by its modification time and size. */
    private record FileVersion(FileTime modified, long bytes) {
        static FileVersion of(Path file) throws IOException {
            BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
            return new FileVersion(attributes.lastModifiedTime(), attributes.size());
        }
    }

    /**
     * Reads and checks all agent files.
     *
     * @throws NoSuchFileException if the directory does not exist
     * @throws AgentInvalid with all problems in the files
     */
    public static AgentDirectory load(Path directory, ModelProviders providers, JavaTools tools)
            throws AgentInvalid, IOException {
        return load(directory, providers, tools, List.of());
    }

    /**
     * Reads and checks all agent files, which may name these agents in Java as subagents. The snapshot contains both:
     *
     * <pre>{@code
     * Agent researcher = Agent.named("researcher").model("anthropic:claude-sonnet-5").build();
     * AgentWorker.on(connection)
     *         .agents(AgentDirectory.load(directory, providers, tools, List.of(researcher.spec())))
     *         .agent(researcher)
     * }</pre>
     *
     * @throws NoSuchFileException if the directory does not exist
     * @throws AgentInvalid with all problems in the files, or with the first problem of the combined agents
     */
    public static AgentDirectory load(Path directory, ModelProviders providers, JavaTools tools, List<AgentSpec> inJava)
            throws AgentInvalid, IOException {
        Map<Path, FileVersion> files = filesOf(directory);
        try (ToolKinds kinds = new ToolKinds(ProcessEnvironment.get(), directory, tools)) {
            AgentFile reader = new AgentFile(directory, providers, tools, kinds.all());
            YamlProblems problems = new YamlProblems();
            Map<Path, AgentFile.Definition> definitions = read(directory, files.keySet(), reader, problems::add);
            if (!problems.isEmpty()) {
                checkSubagents(files.keySet(), inJava, problems);
            }
            problems.end();
            return of(directory, reader, new Source(providers, tools, files, definitions), inJava);
        } catch (YamlProblem e) {
            throw invalid(e);
        }
    }

    /**
     * Reads all agent files, and leaves out the agents that cannot be used.
     *
     * @param problems receives the problems of each file that is left out
     * @throws NoSuchFileException if the directory does not exist
     */
    public static AgentDirectory loadValid(
            Path directory, ModelProviders providers, JavaTools tools, Consumer<AgentInvalid> problems)
            throws IOException {
        Map<Path, FileVersion> files = filesOf(directory);
        try (ToolKinds kinds = new ToolKinds(ProcessEnvironment.get(), directory, tools)) {
            AgentFile reader = new AgentFile(directory, providers, tools, kinds.all());
            Map<Path, AgentFile.Definition> definitions =
                    read(directory, files.keySet(), reader, problem -> problems.accept(invalid(problem)));
            Source source = new Source(providers, tools, files, definitions);
            while (true) {
                try {
                    return of(directory, reader, source, List.of());
                } catch (YamlProblem e) {
                    problems.accept(invalid(e));
                    Objects.requireNonNull(definitions.remove(Path.of(e.file())), e.file());
                }
            }
        }
    }

    /** Returns the JSON schema of agent files, which declares their fields. */
    @Internal
    public static String schema() {
        return AgentFile.SCHEMA.text();
    }

    private static Map<Path, FileVersion> filesOf(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            throw new NoSuchFileException(directory.toString(), null, "no such directory");
        }
        return files(directory);
    }

    private static Map<Path, AgentFile.Definition> read(
            Path directory, Collection<Path> files, AgentFile reader, Consumer<YamlProblem> problems)
            throws IOException {
        for (Path file : misnamed(directory)) {
            problems.accept(
                    new YamlProblem(file.toString(), 1, "", "the name of an agent file ends with .yaml. Rename it"));
        }
        Map<Path, AgentFile.Definition> definitions = new LinkedHashMap<>();
        for (Path file : files) {
            try {
                definitions.put(file, reader.read(file));
            } catch (YamlProblem e) {
                problems.accept(e);
            }
        }
        return definitions;
    }

    /**
     * Checks the names of subagents in all files. Only needed if some files are invalid: otherwise, the names are
     * checked when the agents are combined.
     */
    private static void checkSubagents(Collection<Path> files, List<AgentSpec> inJava, YamlProblems problems) {
        List<AgentFile.Names> all = files.stream().map(AgentFile.Names::in).toList();
        List<String> known = Stream.concat(
                        all.stream().map(AgentFile.Names::agent),
                        inJava.stream().map(AgentSpec::name))
                .toList();
        for (AgentFile.Names names : all) {
            for (YamlValue subagent : names.subagents()) {
                problems.check(() -> SubagentFields.name(subagent, known));
            }
        }
    }

    /**
     * Returns a snapshot of the current files, or this object if no file has changed. For an invalid file, the last
     * valid version is used, if there was one. If the agents contradict each other, all of them stay unchanged.
     *
     * @param problems receives the problems of invalid files, once for each version of a file, or each time while its
     *     skills are invalid, and a contradiction, once for each change of the files
     */
    public AgentDirectory reread(Consumer<AgentInvalid> problems) throws IOException {
        if (source.isEmpty()) {
            return this;
        }
        Source before = source.get();
        Map<Path, FileVersion> files = files(path);
        if (files.equals(before.files())) {
            return this;
        }
        Map<Path, AgentFile.Definition> definitions = new LinkedHashMap<>();
        Map<Path, FileVersion> seen = new LinkedHashMap<>(files);
        Source now = new Source(before.providers(), before.tools(), seen, definitions);
        Consumer<AgentInvalid> all = problem -> {
            if (problem.isOfSkills()) {
                seen.remove(Path.of(problem.file())); // Its skills may be repaired while the file stays as it is.
            }
            problems.accept(problem);
        };
        try (ToolKinds kinds = new ToolKinds(ProcessEnvironment.get(), path, before.tools())) {
            AgentFile reader = new AgentFile(path, before.providers(), before.tools(), kinds.all());
            for (Map.Entry<Path, FileVersion> each : files.entrySet()) {
                Path file = each.getKey();
                boolean isUnchanged = each.getValue().equals(before.files().get(file));
                definition(file, isUnchanged, before, reader, all)
                        .ifPresent(definition -> definitions.put(file, definition));
            }
            return of(path, reader, now, inCode);
        } catch (YamlProblem e) {
            problems.accept(invalid(e));
            return new AgentDirectory(path, byName, servers, Optional.of(now), inCode);
        }
    }

    private static Optional<AgentFile.Definition> definition(
            Path file, boolean isUnchanged, Source before, AgentFile reader, Consumer<AgentInvalid> problems) {
        Optional<AgentFile.Definition> lastValid =
                Optional.ofNullable(before.definitions().get(file));
        if (isUnchanged) {
            return lastValid;
        }
        try {
            return Optional.of(reader.read(file));
        } catch (YamlProblem e) {
            problems.accept(invalid(e));
            return lastValid;
        }
    }

    private static AgentInvalid invalid(YamlProblem e) {
        return new AgentInvalid(e);
    }

    private static AgentDirectory of(Path directory, AgentFile reader, Source source, List<AgentSpec> inCode)
            throws YamlProblem {
        Map<String, Path> files = new LinkedHashMap<>();
        Map<String, List<McpEntry>> servers = new LinkedHashMap<>();
        for (Map.Entry<Path, AgentFile.Definition> each : source.definitions().entrySet()) {
            String name = each.getValue().agent().name();
            Path other = files.put(name, each.getKey());
            if (other != null) {
                throw new YamlProblem(each.getKey().toString(), 1, "name", name + " is also the name of " + other);
            }
            if (inCode.stream().anyMatch(agent -> agent.name().equals(name))) {
                throw new YamlProblem(
                        each.getKey().toString(), 1, "name", name + " is also the name of an agent in Java");
            }
            servers.put(name, each.getValue().servers());
        }
        List<AgentFile.Definition> definitions =
                List.copyOf(source.definitions().values());
        Map<String, AgentSpec> complete = complete(definitions, inCode, reader);
        AgentDirectory ofFiles = new AgentDirectory(directory, complete, servers, Optional.of(source), List.of());
        try {
            return ofFiles.plus(inCode);
        } catch (IllegalArgumentException e) {
            // An agent in Java may use a subagent whose file was deleted, renamed or changed.
            throw new YamlProblem(directory.toString(), 1, "", String.valueOf(e.getMessage()));
        }
    }

    /** The agents of files, with their subagents. */
    private static Map<String, AgentSpec> complete(
            List<AgentFile.Definition> definitions, List<AgentSpec> inCode, AgentFile reader) throws YamlProblem {
        Map<String, AgentSpec> byName = new LinkedHashMap<>();
        definitions.forEach(definition -> byName.put(definition.agent().name(), definition.agent()));
        inCode.forEach(agent -> byName.put(agent.name(), agent));
        for (AgentFile.Definition definition : definitions) {
            byName.put(definition.agent().name(), definition.complete(byName));
        }
        SubagentGraph subagents = new SubagentGraph(byName, reader::hasPrices);
        for (AgentFile.Definition definition : definitions) {
            Optional<String> problem = subagents.problem(
                    Objects.requireNonNull(byName.get(definition.agent().name())));
            if (problem.isPresent()) {
                throw definition.problem(problem.get());
            }
        }
        inCode.forEach(agent -> byName.remove(agent.name()));
        return byName;
    }

    /** Returns agents that are defined in code. The path is the working directory of their tools. */
    public static AgentDirectory of(Path path, List<AgentSpec> agents) {
        Map<String, AgentSpec> byName = new LinkedHashMap<>();
        for (AgentSpec agent : agents) {
            if (byName.put(agent.name(), agent) != null) {
                throw new IllegalArgumentException("duplicate agent name: " + agent.name());
            }
        }
        SubagentGraph subagents = new SubagentGraph(byName, agent -> true);
        byName.values()
                .forEach(agent -> subagents.problem(agent).ifPresent(words -> {
                    throw new IllegalArgumentException("agent " + agent.name() + ": " + words);
                }));
        return new AgentDirectory(path, byName, Map.of(), Optional.empty(), List.of());
    }

    /**
     * Returns these agents together with other agents, which are defined in code. Agents in Java that this snapshot
     * already contains are not added again.
     *
     * @throws IllegalArgumentException if a name occurs twice, an agent's subagents are missing or not allowed, or its
     *     skills cannot be read
     */
    public AgentDirectory plus(List<AgentSpec> more) {
        List<AgentSpec> others =
                more.stream().filter(agent -> !inCode.contains(agent)).toList();
        if (others.isEmpty()) {
            return this;
        }
        List<AgentSpec> all = new ArrayList<>(byName.values());
        others.forEach(agent -> all.add(SkillFolders.read(agent, path)));
        List<AgentSpec> together = new ArrayList<>(inCode);
        together.addAll(others);
        return new AgentDirectory(path, of(path, all).byName, servers, source, together);
    }

    /** Returns the directory of the files: the base of relative paths in them, and the tools' working directory. */
    public Path path() {
        return path;
    }

    /** Returns the names of all agents, in the order of {@link #agents}. */
    public List<String> names() {
        return List.copyOf(byName.keySet());
    }

    /**
     * Returns the agent of this name, with the tools that its file defines. {@link #servers} returns the MCP servers
     * that provide further tools.
     */
    public Optional<AgentSpec> find(String name) {
        return Optional.ofNullable(byName.get(name));
    }

    /** Returns the MCP servers that provide more tools for an agent, in the order of its file. */
    @Internal
    public List<McpEntry> servers(String name) {
        return servers.getOrDefault(name, List.of());
    }

    /** Returns all agents by name: those of files in the order of the file names, and then those in Java. */
    public Map<String, AgentSpec> agents() {
        return byName;
    }

    private static Map<Path, FileVersion> files(Path directory) throws IOException {
        List<Path> sorted;
        try (Stream<Path> entries = Files.list(directory)) {
            sorted = entries.filter(AgentDirectory::isAgent).sorted().toList();
        }
        Map<Path, FileVersion> files = new LinkedHashMap<>();
        for (Path file : sorted) {
            files.put(file, FileVersion.of(file));
        }
        return files;
    }

    /** Returns files that define an agent, but are ignored because their names end with {@code .yml}. */
    private static List<Path> misnamed(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.filter(entry -> {
                        String name = entry.getFileName().toString();
                        return name.endsWith(".yml") && Files.isRegularFile(entry) && isAgentText(entry);
                    })
                    .sorted()
                    .toList();
        }
    }

    private static boolean isAgentText(Path file) {
        try {
            return YamlValue.read(file).fields().has("model");
        } catch (YamlProblem e) {
            return false;
        }
    }

    private static boolean isAgent(Path entry) {
        String name = entry.getFileName().toString();
        return name.endsWith(AgentFile.SUFFIX)
                && !name.endsWith(".script.yaml")
                && !name.endsWith(".checks.yaml")
                && Files.isRegularFile(entry);
    }
}
