package dev.waymark.worker.agents;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.BuiltInTools;
import dev.waymark.agent.DeferredTools;
import dev.waymark.agent.FallbackModel;
import dev.waymark.agent.Pricing;
import dev.waymark.agent.Skills;
import dev.waymark.agent.ToolNames;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.policy.AnnounceRule;
import dev.waymark.conversation.policy.ResultRule;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usd;
import dev.waymark.display.Suggestion;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolArguments;
import dev.waymark.worker.model.ModelChecks;
import dev.waymark.worker.model.table.ModelTable;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import dev.waymark.worker.tool.kind.ToolEntry;
import dev.waymark.worker.tool.kind.ToolKind;
import dev.waymark.worker.tool.mcp.McpEntry;
import dev.waymark.worker.tool.mcp.McpFields;
import dev.waymark.worker.tool.skill.SkillFolders;
import dev.waymark.worker.tool.subagent.SubagentFields;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlProblems;
import dev.waymark.worker.yaml.YamlSchema;
import dev.waymark.worker.yaml.YamlValue;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** Reads agent files. Reports all problems of a file at once. */
final class AgentFile {

    static final String SUFFIX = ".yaml";

    /** The declaration of all fields. This class has the rules that depend on more than the file's own text. */
    static final YamlSchema SCHEMA = YamlSchema.beside(AgentFile.class, "agent.schema.json");

    /** Limited, because each thread's history records the agent in one payload. */
    private static final int LARGEST_BYTES = 128 * 1024;

    /** Limited, because the context, with the fields that a caller adds, must fit into one environment variable. */
    private static final int LONGEST_CONTEXT = 32 * 1024;

    private final Path directory;
    private final ModelChecks models;
    private final ModelFields modelFields;
    private final JavaTools javaTools;
    private final McpFields mcpFields;
    private final List<ToolKind<?>> kinds;

    /** When a conversation is summarized by default, if the model's context window is known to be small. */
    private static final long PERCENT_OF_WINDOW = 85;

    private static final String USE = "use";
    private static final String MCP = "mcp";
    private static final String TOOLS = "tools";

    /** Replaces an invalid name while the rest of the file is checked. */
    private static final String UNNAMED = "name-is-invalid";

    /** @param kinds the tool kinds that are tried for an entry, in this order */
    AgentFile(Path directory, ModelProviders providers, JavaTools javaTools, List<ToolKind<?>> kinds) {
        this.directory = directory;
        this.models = new ModelChecks(providers);
        this.modelFields = new ModelFields(models);
        this.javaTools = javaTools;
        this.mcpFields = new McpFields(directory);
        this.kinds = kinds;
    }

    /**
     * An agent as defined by its file.
     *
     * @param agent the agent with the tools that the file itself defines, without subagents
     * @param servers the MCP servers that provide more tools, in the order of the file
     * @param subagents unresolved references to subagents
     */
    record Definition(AgentSpec agent, List<McpEntry> servers, YamlValue root, List<YamlValue> subagents) {

        /** Returns the agent with a tool for each subagent. */
        AgentSpec complete(Map<String, AgentSpec> others) throws YamlProblem {
            List<ToolSpec> tools = new ArrayList<>(agent.tools());
            List<ToolSpec> all = new ArrayList<>(agent.allTools());
            for (YamlValue subagent : subagents) {
                ToolSpec tool = SubagentFields.tool(subagent, others, all);
                tools.add(tool);
                all.add(tool);
            }
            AgentSpec complete = agent.with().tools(tools).build();
            checkSize(complete, root);
            return complete;
        }

        /** Returns a problem with a direct or indirect subagent, located at the first subagent that the file names. */
        YamlProblem problem(String words) {
            return subagents.get(0).problem(words);
        }
    }

    Definition read(Path file) throws YamlProblem {
        YamlValue root = YamlValue.read(file);
        SCHEMA.check(root);
        YamlProblems problems = root.problems();
        YamlFields fields = root.fields();
        String name = problems.check(() -> name(file, root, fields)).orElse(UNNAMED);
        Optional<String> model = fields.read("model", modelFields::model);
        AgentSpec.Builder builder = new AgentSpec.Builder(name, model.orElse(""));
        fields.read("description", YamlValue::text).ifPresent(builder::description);
        fields.read("instructions", YamlValue::text).ifPresent(builder::instructions);
        Optional<YamlValue> options = fields.take("options");
        Optional<YamlValue> fallback = fields.take("fallback");
        model.ifPresent(named -> readModels(named, fields, options, fallback, builder));
        fields.read("silence", ModelFields::silence).ifPresent(builder::silence);
        fields.read("retry_for", value -> orZero(value, ModelChecks::retryForProblem))
                .ifPresent(builder::retryFor);
        fields.read("fuse", value -> orZero(value, ModelChecks::fuseProblem)).ifPresent(builder::fuse);
        fields.read("max_iterations", value -> value.integer(1)).ifPresent(builder::maxIterations);
        fields.read("continue_cut", value -> value.integer(0)).ifPresent(builder::continueCut);
        Optional<ResultRule> results = fields.read("results", AgentFile::results);
        results.ifPresent(builder::results);
        Optional<Skills> skills = fields.read("skills", this::skills);
        skills.ifPresent(builder::skills);
        FoundTools found = new FoundTools();
        results.ifPresent(rule -> found.names().add(BuiltInTools.readResult().name()));
        skills.ifPresent(folders -> found.names().add(Skills.READ_TOOL));
        fields.read(TOOLS, value -> tools(value, found, builder));
        fields.read("approvals", ApprovalFields::read).ifPresent(builder::approvals);
        fields.take("pricing")
                .ifPresent(value -> builder.pricing(
                        problems.check(() -> ModelTable.pricing(value)).orElse(Pricing.FREE)));
        List<String> priceless = model.isPresent() ? models.withoutPrice(builder.build()) : List.of();
        fields.read("budget", value -> budget(value, priceless)).ifPresent(builder::budget);
        fields.read("context", AgentFile::context).ifPresent(builder::context);
        fields.read("summarize", value -> summaries(value, model)).ifPresent(builder::summaries);
        fields.read("announce", value -> value.entries(AnnounceFields::rule))
                .ifPresent(rules -> builder.announce(rules.values().toArray(AnnounceRule[]::new)));
        List<YamlValue> subagents = fields.read("subagents", YamlValue::items).orElse(List.of());
        problems.end();
        AgentSpec agent = builder.build();
        Optional<String> choice = ModelChecks.toolChoiceProblem(agent);
        // MCP servers and subagents add tools that are not known yet.
        if (choice.isPresent() && found.servers().isEmpty() && subagents.isEmpty()) {
            throw options.or(() -> fallback).orElse(root).problem("tool_choice: " + choice.get());
        }
        checkSize(agent, root);
        return new Definition(agent, List.copyOf(found.servers()), root, subagents);
    }

    /** Reads the options and fallbacks of a model, and the limit of its replies, which depends on all of them. */
    private void readModels(
            String model,
            YamlFields fields,
            Optional<YamlValue> options,
            Optional<YamlValue> fallback,
            AgentSpec.Builder builder) {
        Optional<Integer> given = fields.read("max_tokens", value -> value.integer(1));
        int limit = given.orElseGet(() -> models.maxTokens(model));
        options.flatMap(value -> value.read(each -> modelFields.options(each, model, limit)))
                .ifPresent(builder::options);
        List<FallbackModel> others = fallback.flatMap(
                        value -> value.read(each -> modelFields.fallback(each, model, limit)))
                .orElse(List.of());
        builder.fallback(others)
                .maxTokens(given.orElseGet(() -> others.stream()
                        .map(FallbackModel::model)
                        .map(models::maxTokens)
                        .reduce(limit, Math::min)));
        if (!others.isEmpty()
                && !fields.read("fallback_on", YamlValue::items)
                        .orElse(List.of())
                        .isEmpty()) {
            builder.fallbackOnRefusal();
        }
    }

    /**
     * The names in a file, even if the rest of the file is invalid.
     *
     * @param agent the agent's name, or the name of the file without its suffix if the file names no agent
     * @param subagents references to other agents
     */
    record Names(String agent, List<YamlValue> subagents) {
        static Names in(Path file) {
            YamlProblems otherProblems = new YamlProblems();
            Optional<YamlFields> fields =
                    otherProblems.check(() -> YamlValue.read(file).fields());
            return new Names(
                    fields.flatMap(all -> all.read("name", YamlValue::text)).orElseGet(() -> stem(file)),
                    fields.flatMap(all -> all.read("subagents", YamlValue::items)).orElse(List.of()).stream()
                            .filter(each -> each.read(YamlValue::text).isPresent())
                            .toList());
        }
    }

    private static Duration orZero(YamlValue value, Function<Duration, Optional<String>> check) throws YamlProblem {
        Duration limit = value.durationOrZero();
        Optional<String> problem = check.apply(limit);
        if (problem.isPresent()) {
            throw value.problem(problem.get() + ", found " + value.text());
        }
        return limit;
    }

    private static String stem(Path file) {
        String name = file.getFileName().toString();
        return name.endsWith(SUFFIX) ? name.substring(0, name.length() - SUFFIX.length()) : name;
    }

    private static String name(Path file, YamlValue root, YamlFields fields) throws YamlProblem {
        String name = fields.read("name", YamlValue::text).orElseGet(() -> stem(file));
        if (!ToolNames.isWellFormed(name)) {
            throw root.problem("an agent's name has 1 to 64 characters A-Z a-z 0-9 _ -, found " + name);
        }
        return name;
    }

    /**
     * The tools that a file has so far. The tools of MCP servers are not known until the servers are queried.
     *
     * @param names the names of all tools
     */
    private record FoundTools(
            List<ToolSpec> tools, List<ToolSpec> deferred, List<McpEntry> servers, Set<String> names) {
        FoundTools() {
            this(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new HashSet<>());
        }

        boolean defers() {
            return !deferred.isEmpty() || servers.stream().anyMatch(McpEntry::deferred);
        }
    }

    /** Reads the entries of {@code tools}. */
    private FoundTools tools(YamlValue list, FoundTools found, AgentSpec.Builder builder) throws YamlProblem {
        for (YamlValue item : list.items()) {
            item.problems().run(() -> addTools(item, found));
        }
        builder.tools(found.tools());
        if (found.defers()) {
            for (String builtIn : List.of(DeferredTools.FIND_TOOL, DeferredTools.USE_TOOL)) {
                if (found.names().contains(builtIn)) {
                    throw list.problem("deferred tools need this name; rename the tool " + builtIn);
                }
            }
            try {
                builder.deferred(DeferredTools.of(found.deferred()));
            } catch (IllegalArgumentException e) {
                throw list.problem(String.valueOf(e.getMessage()));
            }
        }
        return found;
    }

    private void addTools(YamlValue item, FoundTools found) throws YamlProblem {
        YamlFields fields = item.fields();
        Optional<YamlValue> mcp = fields.take(MCP);
        Optional<YamlValue> list = fields.take(TOOLS);
        if (mcp.isPresent()) {
            found.servers().add(server(mcp.get(), found.servers()));
        } else if (list.isPresent()) {
            List<ToolSpec> tools = fields.isSet("deferred") ? found.deferred() : found.tools();
            for (YamlValue each : list.get().items()) {
                each.problems().run(() -> addTools(each, each.fields(), tools, found.names()));
            }
        } else {
            addTools(item, fields, found.tools(), found.names());
        }
    }

    private void addTools(YamlValue item, YamlFields fields, List<ToolSpec> tools, Set<String> names)
            throws YamlProblem {
        Optional<YamlValue> use = fields.take(USE);
        for (ToolSpec tool : use.isPresent() ? used(use.get(), fields) : List.of(own(fields))) {
            if (!names.add(tool.name()) && !tool.name().equals(UNNAMED)) {
                throw use.orElse(item).problem("duplicate tool name: " + tool.name());
            }
            tools.add(tool);
        }
    }

    private McpEntry server(YamlValue value, List<McpEntry> others) throws YamlProblem {
        McpEntry entry = mcpFields.read(value);
        String name = entry.server().name();
        if (others.stream().anyMatch(other -> other.server().name().equals(name))) {
            throw value.problem("duplicate server name: " + name);
        }
        return entry;
    }

    /** Returns tools defined elsewhere, a group of built-in tools or a Java tool, with the settings of this entry. */
    private List<ToolSpec> used(YamlValue use, YamlFields fields) throws YamlProblem {
        boolean untrusted = fields.isSet("untrusted");
        return approved(named(use), fields.take("approval")).stream()
                .map(tool -> untrusted ? tool.with().untrusted().build() : tool)
                .toList();
    }

    private List<ToolSpec> named(YamlValue use) throws YamlProblem {
        String name = use.text();
        if (BuiltInTools.GROUPS.contains(name)) {
            return BuiltInTools.of(name);
        }
        Optional<Tool> tool = javaTools.find(name);
        if (tool.isEmpty()) {
            List<String> known = new ArrayList<>(BuiltInTools.GROUPS);
            known.addAll(javaTools.names());
            String meant = Suggestion.question(name, known);
            throw use.problem("no such tool: " + name + ". " + (meant.isEmpty() ? "" : meant + " ") + "Known tools: "
                    + String.join(", ", known));
        }
        return List.of(tool.get().spec());
    }

    /** Sets whether calls need approval, for all of these tools or for some by name. */
    private static List<ToolSpec> approved(List<ToolSpec> tools, Optional<YamlValue> approval) throws YamlProblem {
        if (approval.isEmpty()) {
            return tools;
        }
        Map<String, YamlValue> byName = new LinkedHashMap<>();
        if (approval.get().isMapping()) {
            byName.putAll(approval.get().fields().takeAll());
        } else {
            tools.forEach(tool -> byName.put(tool.name(), approval.get()));
        }
        List<ToolSpec> changed = new ArrayList<>();
        for (ToolSpec tool : tools) {
            changed.add(Optional.ofNullable(byName.remove(tool.name()))
                    .flatMap(said -> said.read(value -> approved(tool, value)))
                    .orElse(tool));
        }
        byName.forEach((name, value) -> value.problems().add(value.problem("there is no tool " + name + " here")));
        return changed;
    }

    private static ToolSpec approved(ToolSpec tool, YamlValue said) throws YamlProblem {
        ToolSpec approved = ToolEntry.approved(tool.with(), ToolEntry.approval(said, tool.input()))
                .build();
        if (tool.kind() == ToolSpec.Kind.QUESTION && approved.approval()) {
            throw said.problem("a question needs no approval");
        }
        return approved;
    }

    /** Reads a tool that the file itself defines. One of its fields determines the kind of the tool. */
    private ToolSpec own(YamlFields fields) {
        String name = fields.read("name", AgentFile::toolName).orElse(UNNAMED);
        Json input = fields.read("input", AgentFile::input).orElse(Json.of(Map.of("type", "object")));
        ToolEntry entry = new ToolEntry(name, input, fields, directory);
        ToolSpec.Builder tool = kinds.stream()
                .flatMap(kind ->
                        kind.field().flatMap(field -> fields.read(field, value -> kind.read(value, entry))).stream())
                .findFirst()
                .orElseGet(() -> ToolSpec.command(name, "true"));
        tool.describedAs(fields.read("description", YamlValue::text).orElse(""), input);
        fields.read("output", AgentFile::schema).ifPresent(tool::output);
        fields.read("timeout", YamlValue::duration).ifPresent(tool::timeout);
        fields.read("approval", value -> ToolEntry.approval(value, input))
                .ifPresent(rules -> ToolEntry.approved(tool, rules));
        fields.read("env", ToolEntry::texts).ifPresent(tool::env);
        fields.read("verify", value -> ToolEntry.program(value, directory))
                .ifPresent(program -> tool.verify(program.toArray(String[]::new)));
        Map<String, Runnable> flags = Map.of(
                "untrusted", tool::untrusted,
                "safe_to_retry", tool::safeToRetry,
                "verify_forbids", tool::verifyForbids,
                "honours_key", tool::honoursKey);
        flags.forEach((field, setting) -> {
            if (fields.isSet(field)) {
                setting.run();
            }
        });
        if (fields.is("dedupe", "session")) {
            tool.dedupe();
        }
        if (fields.is("on_unknown", "ask")) {
            tool.askOnUnknown();
        }
        return tool.build();
    }

    private static Json context(YamlValue value) throws YamlProblem {
        Json context = value.json();
        int length = context.canonical().length();
        if (length > LONGEST_CONTEXT) {
            throw value.problem("too large: " + length + " characters as JSON, at most " + LONGEST_CONTEXT);
        }
        return context;
    }

    private Skills skills(YamlValue list) throws YamlProblem {
        List<Skills.Skill> found = new ArrayList<>();
        List<String> folders = list.items(YamlValue::words);
        for (YamlValue item : list.items()) {
            SkillFolders.find(directory, item.text(), found)
                    .forEach(words -> item.problems().add(item.problem(words)));
        }
        return new Skills(folders, found);
    }

    private static ResultRule results(YamlValue value) throws YamlProblem {
        return value.fields().read("show", AgentFile::shown).orElse(ResultRule.DEFAULT);
    }

    private static ResultRule shown(YamlValue size) throws YamlProblem {
        int bytes = size.size();
        try {
            return new ResultRule(bytes);
        } catch (IllegalArgumentException e) {
            throw size.problem(String.valueOf(e.getMessage()));
        }
    }

    private SummaryRule summaries(YamlValue value, Optional<String> model) throws YamlProblem {
        YamlFields fields = value.fields();
        Optional<Integer> window = model.flatMap(models::contextWindow);
        Optional<Long> whenTokens = fields.read("when_tokens", tokens -> whenTokens(tokens, window));
        Optional<Integer> keepMessages = fields.read("keep_messages", messages -> messages.integer(1));
        return new SummaryRule(
                whenTokens.orElseGet(() -> window.map(tokens -> tokens * PERCENT_OF_WINDOW / 100L)
                        .filter(tokens -> tokens < SummaryRule.DEFAULT.whenTokens())
                        .orElse(SummaryRule.DEFAULT.whenTokens())),
                keepMessages.orElse(SummaryRule.DEFAULT.keepMessages()));
    }

    /** Reads the size at which a conversation is summarized, which must be below the context window of the model. */
    private static long whenTokens(YamlValue value, Optional<Integer> window) throws YamlProblem {
        long tokens = value.whole(1);
        if (window.isPresent() && tokens >= window.get()) {
            throw value.problem(
                    "expected less than the model's context window of " + window.get() + " tokens, found " + tokens);
        }
        return tokens;
    }

    /** Whether prices are known for all models that the agent uses. */
    boolean hasPrices(AgentSpec agent) {
        return models.withoutPrice(agent).isEmpty();
    }

    private static Budget budget(YamlValue value, List<String> priceless) throws YamlProblem {
        YamlFields fields = value.fields();
        return new Budget(
                fields.read("usd", amount -> dollars(amount, priceless)),
                fields.read("tokens", amount -> amount.whole(1)));
    }

    private static Usd dollars(YamlValue value, List<String> priceless) throws YamlProblem {
        if (!priceless.isEmpty()) {
            throw value.problem("no price is known for " + String.join(", ", priceless) + ". Set pricing");
        }
        return Usd.of(value.number());
    }

    private static String toolName(YamlValue value) throws YamlProblem {
        String name = value.text();
        if (ToolNames.isTaken(name)) {
            throw value.problem("this name is reserved: " + name);
        }
        return name;
    }

    private static Json schema(YamlValue value) throws YamlProblem {
        return schema(value, ToolArguments::malformation);
    }

    private static Json input(YamlValue value) throws YamlProblem {
        return schema(value, ToolArguments::schemaProblem);
    }

    private static Json schema(YamlValue value, Function<Json, Optional<String>> check) throws YamlProblem {
        Json schema = value.json();
        Optional<String> problem = check.apply(schema);
        if (problem.isPresent()) {
            throw value.problem(problem.get());
        }
        return schema;
    }

    /** Also called for an agent with subagents, whose tools make it larger. */
    private static void checkSize(AgentSpec agent, YamlValue root) throws YamlProblem {
        int bytes = bytes(agent);
        if (bytes > LARGEST_BYTES) {
            throw root.problem("too large: " + bytes + " bytes as JSON, at most " + LARGEST_BYTES);
        }
    }

    private static int bytes(AgentSpec agent) {
        try {
            return PayloadJson.MAPPER.writeValueAsBytes(agent).length
                    - agent.deferred().map(DeferredTools::encodedBytes).orElse(0);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }
}
