package dev.waymark.server.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.client.AgentClient;
import dev.waymark.client.list.ReportedAgents;
import dev.waymark.contract.message.InboundDecoder;
import dev.waymark.server.http.HttpProblem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * The agents for which callers may start threads: those of a directory, which is read again for each request, or all
 * agents of the workers.
 */
public final class AgentCatalog {
    private static final String SUFFIX = ".yaml";
    private static final String SCRIPT_SUFFIX = ".script.yaml";
    private static final long LARGEST_FILE = 1024 * 1024;

    private final Optional<Path> directory;
    private final Supplier<List<Listed>> reported;

    /** Without a directory, lists no agents and admits all of them; workers reject unknown agents. See {@link #ofWorkers}. */
    public AgentCatalog(Optional<Path> directory) {
        this(directory, List::of);
    }

    private AgentCatalog(Optional<Path> directory, Supplier<List<Listed>> reported) {
        this.directory = directory;
        this.reported = reported;
    }

    /** Lists and admits the agents of a directory, with what the workers report about them. */
    public static AgentCatalog of(Path directory, AgentClient client) {
        return new AgentCatalog(Optional.of(directory), ofWorkers(client).reported);
    }

    /** Lists the agents that the workers report, and admits all agents; workers reject unknown ones. */
    public static AgentCatalog ofWorkers(AgentClient client) {
        ReportedAgents reported = client.reportedAgents();
        return new AgentCatalog(
                Optional.empty(),
                () -> reported.agents().stream()
                        .map(agent -> new Listed(agent.name(), agent.description(), agent.lacks(), agent.subagent()))
                        .sorted(Comparator.comparing(Listed::name))
                        .toList());
    }

    /**
     * An entry in the list of agents.
     *
     * @param lacks what the workers lack to call a model of the agent, such as a key
     * @param subagent whether another agent uses it as a subagent
     */
    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    public record Listed(
            String name,
            Optional<String> description,
            Optional<String> lacks,

            @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean subagent) {}

    /** What an agent file says about the agent, and the names of its subagents. */
    private record AgentFile(String name, Optional<String> description, List<String> subagents) {}

    /** The agents, by name. */
    public List<Listed> agents() {
        if (directory.isEmpty()) {
            return reported.get();
        }
        Map<String, Listed> known = new HashMap<>();
        reported.get().forEach(agent -> known.put(agent.name(), agent));
        return named().stream()
                .map(agent -> new Listed(
                        agent.name(),
                        agent.description(),
                        Optional.ofNullable(known.get(agent.name())).flatMap(Listed::lacks),
                        agent.subagent()))
                .toList();
    }

    private List<Listed> named() {
        try (Stream<Path> files = Files.list(directory.orElseThrow())) {
            List<AgentFile> all = files.filter(AgentCatalog::isAgent)
                    .flatMap(file -> read(file).stream())
                    .sorted(Comparator.comparing(AgentFile::name))
                    .toList();
            Set<String> subagents =
                    all.stream().flatMap(file -> file.subagents().stream()).collect(Collectors.toSet());
            return all.stream()
                    .map(file -> new Listed(
                            file.name(), file.description(), Optional.empty(), subagents.contains(file.name())))
                    .toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    /** Whether only the listed agents can be started. */
    public boolean isRestricted() {
        return directory.isPresent();
    }

    /** Rejects an agent for which callers may not start threads: with status 404, or with 400 if no agent has such a name. */
    public void check(String agent) {
        if (agent.length() > InboundDecoder.MAX_ID_LENGTH) {
            throw HttpProblem.badInput("the agent's name must have 1 to " + InboundDecoder.MAX_ID_LENGTH
                    + " characters, not " + agent.length());
        }
        boolean isAdmitted = directory.isEmpty()
                || named().stream().anyMatch(known -> known.name().equals(agent));
        if (!isAdmitted) {
            throw HttpProblem.notFound("no such agent: " + agent);
        }
    }

    private static boolean isAgent(Path file) {
        String name = file.getFileName().toString();
        return name.endsWith(SUFFIX) && !name.endsWith(SCRIPT_SUFFIX) && Files.isRegularFile(file);
    }

    /** Empty for an invalid file, which workers report when they start. */
    private static Optional<AgentFile> read(Path file) {
        String fileName = file.getFileName().toString();
        String name = fileName.substring(0, fileName.length() - SUFFIX.length());
        try {
            if (Files.size(file) > LARGEST_FILE) {
                return Optional.empty();
            }
            Object tree = new Load(LoadSettings.builder().build()).loadFromString(Files.readString(file));
            if (!(tree instanceof Map<?, ?> fields)) {
                return Optional.empty();
            }
            String stated = fields.get("name") instanceof String own ? own : name;
            Optional<String> description = Optional.ofNullable(fields.get("description"))
                    .filter(String.class::isInstance)
                    .map(String.class::cast);
            List<String> subagents = fields.get("subagents") instanceof List<?> names
                    ? names.stream()
                            .filter(String.class::isInstance)
                            .map(String.class::cast)
                            .toList()
                    : List.of();
            return Optional.of(new AgentFile(stated, description, subagents));
        } catch (IOException | YamlEngineException e) {
            return Optional.empty();
        }
    }
}
