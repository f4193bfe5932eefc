package dev.waymark.worker.agents;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.Wire;
import dev.waymark.conversation.Json;
import dev.waymark.model.ModelFailure;
import dev.waymark.tool.Tool;
import dev.waymark.worker.model.ModelProviders;
import dev.waymark.worker.tool.EnvironmentReferences;
import dev.waymark.worker.tool.JavaTools;
import dev.waymark.worker.tool.ToolArguments;
import dev.waymark.worker.tool.ToolNames;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlValue;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** Reads agent files. The first thing that is wrong ends the reading of a file. */
final class AgentFile {

    static final String SUFFIX = ".yaml";

    /** An agent is recorded in each of its threads, in one payload. */
    private static final int LARGEST_BYTES = 128 * 1024;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,64}");
    private static final Set<String> LATER_FIELDS =
            Set.of("budget", "pricing", "context", "summarize", "approvals", "subagents");
    private static final Set<String> LATER_TOOL_FIELDS =
            Set.of("http", "mcp", "verify", "honours_key", "on_unknown", "output");
    private static final Set<String> LATER_USES = Set.of("files", "todos", "plan");
    private static final String LATER = "not supported by this version";
    private static final String SIDE_EFFECTS = "side-effecting tools are not supported by this version: say"
            + " safe_to_retry: true if running twice is harmless";

    private final Path directory;
    private final ModelProviders providers;
    private final JavaTools javaTools;

    AgentFile(Path directory, ModelProviders providers, JavaTools javaTools) {
        this.directory = directory;
        this.providers = providers;
        this.javaTools = javaTools;
    }

    AgentSpec read(Path file) throws YamlProblem {
        YamlValue root = YamlValue.read(file);
        YamlFields fields = root.fields();
        fields.refuse(LATER_FIELDS);
        String name = name(file, root, fields);
        Optional<YamlValue> description = fields.take("description");
        Optional<YamlValue> instructions = fields.take("instructions");
        YamlValue model = fields.require("model");
        Optional<YamlValue> maxTokens = fields.take("max_tokens");
        Optional<YamlValue> maxIterations = fields.take("max_iterations");
        Optional<YamlValue> tools = fields.take("tools");
        fields.end();
        AgentSpec agent = new AgentSpec(
                name,
                description.isPresent() ? Optional.of(description.get().text()) : Optional.empty(),
                instructions.isPresent() ? Optional.of(instructions.get().text()) : Optional.empty(),
                model(model),
                maxTokens.isPresent() ? maxTokens.get().integer(1) : AgentSpec.DEFAULT_MAX_TOKENS,
                maxIterations.isPresent() ? maxIterations.get().integer(1) : AgentSpec.DEFAULT_MAX_ITERATIONS,
                tools.isPresent() ? tools(tools.get()) : List.of());
        int bytes = bytes(agent);
        if (bytes > LARGEST_BYTES) {
            throw root.problem("too large: " + bytes + " bytes as JSON, at most " + LARGEST_BYTES);
        }
        return agent;
    }

    private static String name(Path file, YamlValue root, YamlFields fields) throws YamlProblem {
        Optional<YamlValue> given = fields.take("name");
        String fileName = file.getFileName().toString();
        String name =
                given.isPresent() ? given.get().text() : fileName.substring(0, fileName.length() - SUFFIX.length());
        if (!NAME.matcher(name).matches()) {
            throw given.orElse(root).problem("an agent's name is 1 to 64 of A-Z a-z 0-9 _ -, found " + name);
        }
        return name;
    }

    private String model(YamlValue value) throws YamlProblem {
        String model = value.text();
        Optional<ModelProviders.Bound> bound = providers.find(model);
        if (bound.isEmpty()) {
            throw value.problem("expected PROVIDER:MODEL with a provider out of " + String.join(", ", providers.names())
                    + ", found " + model);
        }
        try {
            bound.get().provider().check(bound.get().model());
        } catch (ModelFailure e) {
            throw value.problem(String.valueOf(e.getMessage()));
        }
        return model;
    }

    private List<ToolSpec> tools(YamlValue list) throws YamlProblem {
        List<ToolSpec> tools = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (YamlValue item : list.items()) {
            YamlFields fields = item.fields();
            Optional<YamlValue> use = fields.take("use");
            ToolSpec tool = use.isPresent() ? used(use.get(), fields) : command(fields);
            if (!names.add(tool.name())) {
                throw use.orElse(item).problem("a second tool named " + tool.name());
            }
            tools.add(tool);
        }
        return tools;
    }

    private ToolSpec used(YamlValue use, YamlFields fields) throws YamlProblem {
        String name = use.text();
        if (LATER_USES.contains(name)) {
            throw use.problem(name + " is " + LATER);
        }
        approval(fields);
        fields.end();
        if (name.equals("ask_user")) {
            return ToolSpec.askUser();
        }
        Optional<Tool> tool = javaTools.find(name);
        if (tool.isEmpty()) {
            List<String> known = new ArrayList<>(List.of("ask_user"));
            known.addAll(javaTools.names());
            throw use.problem("no such tool: " + name + ". There is " + String.join(", ", known));
        }
        if (!tool.get().spec().safeToRetry()) {
            throw use.problem("side-effecting tools are not supported by this version: " + name
                    + " does not say that running twice is harmless");
        }
        return tool.get().spec();
    }

    private ToolSpec command(YamlFields fields) throws YamlProblem {
        fields.refuse(LATER_TOOL_FIELDS);
        String name = toolName(fields.require("name"));
        Optional<YamlValue> description = fields.take("description");
        Optional<YamlValue> input = fields.take("input");
        YamlValue command = fields.require("command");
        Optional<YamlValue> env = fields.take("env");
        Optional<YamlValue> safeToRetry = fields.take("safe_to_retry");
        Optional<YamlValue> timeout = fields.take("timeout");
        approval(fields);
        Optional<YamlValue> dedupe = fields.take("dedupe");
        if (dedupe.isPresent() && !dedupe.get().text().equals("call")) {
            throw dedupe.get()
                    .problem("expected call, found " + dedupe.get().text()
                            + (dedupe.get().text().equals("session") ? ", which is " + LATER : ""));
        }
        fields.end();
        if (safeToRetry.isEmpty() || !safeToRetry.get().flag()) {
            throw fields.problem("safe_to_retry", SIDE_EFFECTS);
        }
        return new ToolSpec(
                name,
                description.isPresent() ? description.get().text() : "",
                input.isPresent() ? input(input.get()) : Json.of(Map.of("type", "object")),
                ToolSpec.Kind.COMMAND,
                true,
                timeout.isPresent() ? timeout(timeout.get()) : ToolSpec.DEFAULT_TIMEOUT,
                program(command),
                env.isPresent() ? environment(env.get()) : Map.of());
    }

    private static String toolName(YamlValue value) throws YamlProblem {
        String name = value.text();
        if (!ToolNames.isWellFormed(name)) {
            throw value.problem("a tool's name is 1 to 64 of A-Z a-z 0-9 _ -, found " + name);
        }
        if (ToolNames.isTaken(name)) {
            throw value.problem("this name is taken: " + name);
        }
        return name;
    }

    private static void approval(YamlFields fields) throws YamlProblem {
        Optional<YamlValue> approval = fields.take("approval");
        if (approval.isPresent() && !approval.get().text().equals("never")) {
            throw approval.get()
                    .problem("expected never, found " + approval.get().text()
                            + (approval.get().text().equals("always") ? ", which is " + LATER : ""));
        }
    }

    private static Json input(YamlValue value) throws YamlProblem {
        value.fields();
        Json schema = value.json();
        Optional<String> problem = ToolArguments.schemaProblem(schema);
        if (problem.isPresent()) {
            throw value.problem(problem.get());
        }
        return schema;
    }

    private List<String> program(YamlValue value) throws YamlProblem {
        List<String> command = new ArrayList<>();
        for (YamlValue word : value.items()) {
            command.add(word.text());
        }
        if (command.isEmpty() || command.get(0).isBlank()) {
            throw value.problem("no program named");
        }
        // One that is looked up on PATH may come later, one that lies here does not.
        if (command.get(0).contains("/") && !Files.isExecutable(directory.resolve(command.get(0)))) {
            throw value.problem("not an executable file: " + directory.resolve(command.get(0)));
        }
        return command;
    }

    private static Map<String, String> environment(YamlValue value) throws YamlProblem {
        Map<String, String> environment = new LinkedHashMap<>();
        for (Map.Entry<String, YamlValue> field : value.fields().takeAll().entrySet()) {
            String name = field.getKey();
            YamlValue variable = field.getValue();
            if (!EnvironmentReferences.isName(name)) {
                throw variable.problem("not a variable's name");
            }
            if (name.startsWith("WAYMARK_")) {
                throw variable.problem("names in WAYMARK_ are taken");
            }
            if (!EnvironmentReferences.isWellFormed(variable.text())) {
                throw variable.problem("expected ${NAME}");
            }
            environment.put(name, variable.text());
        }
        return environment;
    }

    private static Duration timeout(YamlValue value) throws YamlProblem {
        Duration timeout = value.duration();
        if (timeout.isZero()) {
            throw value.problem("must be longer than nothing");
        }
        return timeout;
    }

    private static int bytes(AgentSpec agent) {
        try {
            return Wire.MAPPER.writeValueAsBytes(agent).length;
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }
}
