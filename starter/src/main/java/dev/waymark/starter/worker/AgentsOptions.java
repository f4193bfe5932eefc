package dev.waymark.starter.worker;

import dev.waymark.agent.AgentSpec;
import dev.waymark.cli.CommandFailure;
import dev.waymark.cli.ExitCode;
import dev.waymark.codec.EncryptionKeys;
import dev.waymark.connect.Connection;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.contract.WireNames;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.extension.WorkerExtension;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.agents.AgentDefinitions;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.agents.AgentInvalid;
import dev.waymark.worker.model.ModelChecks;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that name the agent files, extensions and prices of a worker. */
final class AgentsOptions {
    private static final String VARIABLE = "WAYMARK_AGENTS";

    @Option(
            names = "--agents",
            paramLabel = "DIR",
            description = "The directory of the agent files. Default: WAYMARK_AGENTS, or agents.")
    private @Nullable Path directory;

    @Option(
            names = "--classpath",
            paramLabel = "PATH",
            split = ":",
            description =
                    "Jars, or directories of jars, with additional Java tools and model providers; separated by colons.")
    private List<Path> classpath = List.of();

    @Option(
            names = "--models",
            paramLabel = "FILE",
            description =
                    "A YAML file about models: prices, limits, and what they refuse. It overrides the built-in table. Default: WAYMARK_MODELS.")
    private @Nullable Path models;

    /** The agents, providers and tools of a worker, as read from the options. */
    record Setup(AgentDirectory agents, ModelProviders providers, JavaTools tools) {
        /** Returns the builder of a worker with these agents, for this task queue. */
        AgentWorker.Builder worker(Connection connection, String taskQueue) {
            return AgentWorker.builder(connection.client())
                    .taskQueue(taskQueue)
                    .agents(agents)
                    .providers(providers)
                    .tools(tools);
        }

        /** Explains what agents lack to call their models or fallbacks. Their files are valid, so the worker starts. */
        List<String> warnings() {
            return Stream.of(
                            warnings(agent -> providers.lacks(agent).stream(), "their turns fail"),
                            warnings(agent -> providers.fallbacksLack(agent).stream(), "their fallbacks can't answer"),
                            agents.agents().values().stream()
                                    .flatMap(agent -> new ModelChecks(providers)
                                            .refusingTools(agent).stream()
                                                    .map(words -> "waymark: " + agent.name() + ": " + words)))
                    .flatMap(Function.identity())
                    .toList();
        }

        private Stream<String> warnings(Function<AgentSpec, Stream<String>> lacks, String consequence) {
            Map<String, List<String>> mute = new LinkedHashMap<>();
            agents.agents()
                    .forEach((name, agent) -> lacks.apply(agent)
                            .forEach(words -> mute.computeIfAbsent(words, key -> new ArrayList<>())
                                    .add(name)));
            return mute.entrySet().stream()
                    .map(entry -> "waymark: " + entry.getKey() + ": " + String.join(", ", entry.getValue())
                            + ". Set it and restart; until then " + consequence);
        }
    }

    /** Whether the directory is set on the command line or in the environment. */
    boolean isNamed() {
        return directory != null || !variable(VARIABLE, "").isEmpty();
    }

    boolean exists() {
        return Files.isDirectory(path());
    }

    Path path() {
        return Optional.ofNullable(directory).orElseGet(() -> Path.of(variable(VARIABLE, "agents")));
    }

    /** Reads the agent files of a directory, either all of them or only the valid ones. */
    private interface Reading<X extends Exception> {
        AgentDirectory read(Path directory, ModelProviders providers, JavaTools tools) throws X, IOException;
    }

    Setup load() throws AgentInvalid, IOException, CommandFailure {
        return load(path(), AgentDirectory::load);
    }

    /** Reads the agent files of a directory, or the agents that an application has written to a file. */
    Setup definitions(Path other) throws AgentInvalid, IOException, CommandFailure {
        if (Files.isRegularFile(other)) {
            ModelProviders providers = providers();
            return new Setup(AgentDefinitions.read(other), providers, JavaTools.NONE);
        }
        return load(other, AgentDirectory::load);
    }

    /** The providers of models, for a command that needs no agent files. */
    ModelProviders providers() throws IOException, CommandFailure {
        return providers(path(), extensions());
    }

    /** Like {@link #load()}, but leaves out agents that cannot be used, and passes their files' problems on. */
    Setup loadValid(Consumer<AgentInvalid> problems) throws IOException, CommandFailure {
        return this.<RuntimeException>load(
                path(), (path, providers, tools) -> AgentDirectory.loadValid(path, providers, tools, problems));
    }

    private <X extends Exception> Setup load(Path path, Reading<X> reading) throws X, IOException, CommandFailure {
        EncryptionKeys.of(ProcessEnvironment.get()); // Rejects unusable keys before anything starts.
        if (!Files.isDirectory(path)) {
            throw new CommandFailure(
                    ExitCode.NOT_FOUND,
                    ProblemType.NOT_FOUND,
                    "no agents directory: " + path,
                    "Create it, or name another with --agents");
        }
        List<WorkerExtension> extensions = extensions();
        ModelProviders providers = providers(path, extensions);
        JavaTools tools = tools(extensions);
        return new Setup(reading.read(path, providers, tools), providers, tools);
    }

    static String taskQueue() {
        return variable("WAYMARK_TASK_QUEUE", WireNames.TASK_QUEUE);
    }

    private ModelProviders providers(Path scripts, List<WorkerExtension> extensions) throws CommandFailure {
        ModelProviders providers = ModelProviders.from(ProcessEnvironment.get(), scripts, extensions);
        String file = Optional.ofNullable(models).map(Path::toString).orElseGet(() -> variable("WAYMARK_MODELS", ""));
        try {
            return file.isEmpty() ? providers : providers.withModels(Path.of(file));
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(
                    ExitCode.BAD_INPUT, ProblemType.MODELS_INVALID, String.valueOf(e.getMessage()), "Fix the file");
        }
    }

    private List<WorkerExtension> extensions() throws IOException, CommandFailure {
        try {
            return ExtensionLoader.load(classpath);
        } catch (NoSuchFileException e) {
            throw new CommandFailure(
                    ExitCode.NOT_FOUND,
                    ProblemType.NOT_FOUND,
                    "no such jar or directory in --classpath: " + e.getFile(),
                    "Name existing ones, separated by colons");
        } catch (ServiceConfigurationError e) {
            throw CommandFailure.badInput(
                    "an extension can't be loaded: " + e.getMessage(),
                    "Check META-INF/services/" + WorkerExtension.class.getName() + " in its jar");
        }
    }

    private static JavaTools tools(List<WorkerExtension> extensions) throws CommandFailure {
        try {
            return JavaTools.of(extensions.stream()
                    .flatMap(extension -> extension.tools(ProcessEnvironment.get()).stream())
                    .toList());
        } catch (IllegalArgumentException e) {
            throw CommandFailure.badInput(
                    "the tools of the extensions can't be used: " + e.getMessage(),
                    "Fix them, or leave one of them out of --classpath");
        }
    }

    private static String variable(String name, String otherwise) {
        return Optional.ofNullable(ProcessEnvironment.get().get(name))
                .filter(value -> !value.isBlank())
                .orElse(otherwise);
    }
}
