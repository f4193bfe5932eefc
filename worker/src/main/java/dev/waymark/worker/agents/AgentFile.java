package dev.waymark.worker.agents;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.BuiltInTools;
import dev.waymark.agent.Pricing;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usd;
import dev.waymark.display.Suggestion;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolArguments;
import dev.waymark.worker.model.ModelChecks;
import dev.waymark.worker.model.ModelProviders;
import dev.waymark.worker.model.price.PriceTable;
import dev.waymark.worker.tool.java.JavaTools;
import dev.waymark.worker.tool.kind.ToolEntry;
import dev.waymark.worker.tool.kind.ToolKind;
import dev.waymark.worker.tool.kind.ToolNames;
import dev.waymark.worker.tool.mcp.McpEntry;
import dev.waymark.worker.tool.mcp.McpFields;
import dev.waymark.worker.tool.subagent.SubagentFields;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlProblems;
import dev.waymark.worker.yaml.YamlValue;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** Reads agent files. Collects all problems of a file in one reading. */
final class AgentFile {

    static final String SUFFIX = ".yaml";

    /** History records an agent in one payload of each of its threads. */
    private static final int LARGEST_BYTES = 128 * 1024;

    /** Together with what a caller adds, it must fit into one environment variable. */
    private static final int LONGEST_CONTEXT = 32 * 1024;

    private static final BigDecimal MOST_DOLLARS = new BigDecimal(1_000_000);

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,64}");
    private static final Set<String> EFFECT_FIELDS =
            Set.of("dedupe", "verify", "verify_forbids", "on_unknown", "honours_key");

    private final Path directory;
    private final ModelChecks models;
    private final ModelFields modelFields;
    private final JavaTools javaTools;
    private final McpFields mcpFields;
    private final List<ToolKind> kinds;

    /** Replaces an invalid name while the rest of the file is checked. */
    private static final String UNNAMED = "unnamed";

    /** @param kinds the tool kinds that are tried for an entry, in order */
    AgentFile(Path directory, ModelProviders providers, JavaTools javaTools, List<ToolKind> kinds) {
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
     * @param agent with the tools that the file itself defines, without subagents
     * @param servers the MCP servers that provide more tools, in order
     * @param subagents references that are still to be resolved
     */
    record Definition(AgentSpec agent, List<McpEntry> servers, YamlValue root, List<YamlValue> subagents) {

        /** The agent, with a tool for each subagent. */
        AgentSpec complete(Map<String, AgentSpec> others) throws YamlProblem {
            List<ToolSpec> tools = new ArrayList<>(agent.tools());
            for (YamlValue subagent : subagents) {
                tools.add(SubagentFields.tool(subagent, others, tools));
            }
            AgentSpec complete = agent.with().tools(tools).build();
            int bytes = bytes(complete);
            if (bytes > LARGEST_BYTES) {
                throw root.problem("too large: " + bytes + " bytes as JSON, at most " + LARGEST_BYTES);
            }
            return complete;
        }

        /** A problem with one of its subagents, or with one below that. */
        YamlProblem problem(String words) {
            return subagents.get(0).problem(words);
        }
    }

    Definition read(Path file) throws YamlProblem {
        YamlValue root = YamlValue.read(file);
        YamlFields fields = root.fields();
        YamlProblems problems = new YamlProblems();
        Optional<String> name = problems.check(() -> name(file, root, fields));
        Optional<YamlValue> description = fields.take("description");
        Optional<YamlValue> instructions = fields.take("instructions");
        Optional<YamlValue> model = problems.check(() -> fields.require("model"));
        Optional<YamlValue> options = fields.take("options");
        Optional<YamlValue> fallback = fields.take("fallback");
        Optional<YamlValue> maxTokens = fields.take("max_tokens");
        Optional<YamlValue> maxIterations = fields.take("max_iterations");
        Optional<YamlValue> tools = fields.take("tools");
        Optional<YamlValue> approvals = fields.take("approvals");
        Optional<YamlValue> subagents = fields.take("subagents");
        Optional<YamlValue> budget = fields.take("budget");
        Optional<YamlValue> pricing = fields.take("pricing");
        Optional<YamlValue> context = fields.take("context");
        Optional<YamlValue> summarize = fields.take("summarize");
        problems.check(() -> {
            fields.end();
            return root;
        });
        Optional<String> modelName = model.flatMap(value -> problems.check(() -> modelFields.model(value)));
        AgentSpec.Builder builder = new AgentSpec.Builder(name.orElse(UNNAMED), modelName.orElse(""));
        List<McpEntry> servers = new ArrayList<>();
        description.flatMap(value -> problems.check(value::text)).ifPresent(builder::description);
        instructions.flatMap(value -> problems.check(value::text)).ifPresent(builder::instructions);
        Optional<Integer> mostTokens = maxTokens.flatMap(value -> problems.check(() -> value.integer(1)));
        mostTokens.ifPresent(builder::maxTokens);
        int limit = mostTokens.orElse(AgentSpec.DEFAULT_MAX_TOKENS);
        modelName.ifPresent(named -> options.flatMap(
                        value -> problems.check(() -> modelFields.options(value, named, limit)))
                .ifPresent(builder::options));
        modelName.ifPresent(named -> fallback.flatMap(
                        value -> problems.check(() -> modelFields.fallback(value, named, limit)))
                .ifPresent(builder::fallback));
        maxIterations.flatMap(value -> problems.check(() -> value.integer(1))).ifPresent(builder::maxIterations);
        tools.flatMap(value -> problems.check(() -> tools(value, servers))).ifPresent(builder::tools);
        approvals
                .flatMap(value -> problems.check(() -> ApprovalFields.read(value)))
                .ifPresent(builder::approvals);
        pricing.ifPresent(value ->
                builder.pricing(problems.check(() -> PriceTable.pricing(value)).orElse(Pricing.FREE)));
        List<String> priceless = modelName.isPresent() ? models.withoutPrice(builder.build()) : List.of();
        budget.flatMap(value -> problems.check(() -> budget(value, priceless))).ifPresent(builder::budget);
        context.flatMap(value -> problems.check(() -> context(value))).ifPresent(builder::context);
        summarize.flatMap(value -> problems.check(() -> summaries(value))).ifPresent(builder::summaries);
        problems.end();
        AgentSpec agent = builder.build();
        int bytes = bytes(agent);
        if (bytes > LARGEST_BYTES) {
            throw root.problem("too large: " + bytes + " bytes as JSON, at most " + LARGEST_BYTES);
        }
        return new Definition(
                agent,
                List.copyOf(servers),
                root,
                subagents.isPresent() ? subagents.get().items() : List.of());
    }

    private static String name(Path file, YamlValue root, YamlFields fields) throws YamlProblem {
        Optional<YamlValue> given = fields.take("name");
        String fileName = file.getFileName().toString();
        String name =
                given.isPresent() ? given.get().text() : fileName.substring(0, fileName.length() - SUFFIX.length());
        if (!NAME.matcher(name).matches()) {
            throw given.orElse(root).problem("an agent's name has 1 to 64 characters A-Z a-z 0-9 _ -, found " + name);
        }
        return name;
    }

    /** Tools of MCP servers are only known once the servers are asked, so these entries go into their own list. */
    private List<ToolSpec> tools(YamlValue list, List<McpEntry> servers) throws YamlProblem {
        List<ToolSpec> tools = new ArrayList<>();
        Set<String> names = new HashSet<>();
        YamlProblems problems = new YamlProblems();
        for (YamlValue item : list.items()) {
            problems.check(() -> addTools(item, tools, names, servers));
        }
        problems.end();
        return tools;
    }

    private YamlValue addTools(YamlValue item, List<ToolSpec> tools, Set<String> names, List<McpEntry> servers)
            throws YamlProblem {
        YamlFields fields = item.fields();
        Optional<YamlValue> mcp = fields.take("mcp");
        if (mcp.isPresent()) {
            fields.end();
            McpEntry entry = mcpFields.read(mcp.get());
            if (servers.stream()
                    .anyMatch(
                            other -> other.server().name().equals(entry.server().name()))) {
                throw mcp.get()
                        .problem("duplicate server name: " + entry.server().name());
            }
            servers.add(entry);
            return item;
        }
        Optional<YamlValue> use = fields.take("use");
        for (ToolSpec tool : use.isPresent() ? used(use.get(), fields) : List.of(own(fields))) {
            if (!names.add(tool.name())) {
                throw use.orElse(item).problem("duplicate tool name: " + tool.name());
            }
            tools.add(tool);
        }
        return item;
    }

    /** Existing tools: a group of built-in ones or one in Java, with the settings that are added here. */
    private List<ToolSpec> used(YamlValue use, YamlFields fields) throws YamlProblem {
        String name = use.text();
        Optional<YamlValue> approval = fields.take("approval");
        fields.end();
        if (BuiltInTools.GROUPS.contains(name)) {
            return approved(BuiltInTools.of(name), approval);
        }
        Optional<Tool> tool = javaTools.find(name);
        if (tool.isEmpty()) {
            List<String> known = new ArrayList<>(BuiltInTools.GROUPS);
            known.addAll(javaTools.names());
            String meant = Suggestion.question(name, known);
            throw use.problem("no such tool: " + name + ". " + (meant.isEmpty() ? "" : meant + " ") + "Known tools: "
                    + String.join(", ", known));
        }
        return approved(List.of(tool.get().spec()), approval);
    }

    /** Sets approval for all tools, or for some by name. */
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
            YamlValue said = byName.remove(tool.name());
            changed.add(said != null && ToolEntry.isAlways(said) ? approvable(tool, said) : tool);
        }
        for (Map.Entry<String, YamlValue> other : byName.entrySet()) {
            throw other.getValue().problem("there is no tool " + other.getKey() + " here");
        }
        return changed;
    }

    private static ToolSpec approvable(ToolSpec tool, YamlValue said) throws YamlProblem {
        if (tool.kind() == ToolSpec.Kind.QUESTION) {
            throw said.problem("a question needs no approval");
        }
        return tool.with().approved().build();
    }

    /** A tool defined in the file; one of its fields determines the kind. */
    private ToolSpec own(YamlFields fields) throws YamlProblem {
        String name = toolName(fields.require("name"));
        Optional<YamlValue> description = fields.take("description");
        Optional<YamlValue> inputField = fields.take("input");
        Json input = inputField.isPresent() ? input(inputField.get()) : Json.of(Map.of("type", "object"));
        ToolEntry entry = new ToolEntry(name, input, fields, directory);
        ToolSpec.Builder tool = declared(entry);
        tool.describedAs(description.isPresent() ? description.get().text() : "", input);
        Optional<YamlValue> output = fields.take("output");
        if (output.isPresent()) {
            tool.returning(schema(output.get()));
        }
        Optional<YamlValue> env = fields.take("env");
        if (env.isPresent()) {
            if (!fields.has("verify")) {
                throw env.get().problem("only for tools that run a program");
            }
            tool.env(ToolEntry.environment(env.get()));
        }
        Optional<YamlValue> timeout = fields.take("timeout");
        if (timeout.isPresent()) {
            tool.timeout(ToolEntry.timeout(timeout.get()));
        }
        Optional<YamlValue> approval = fields.take("approval");
        if (approval.isPresent() && ToolEntry.isAlways(approval.get())) {
            tool.approved();
        }
        Optional<YamlValue> safeToRetry = fields.take("safe_to_retry");
        if (safeToRetry.isPresent() && safeToRetry.get().flag()) {
            tool.safeToRetry();
            fields.refuse(EFFECT_FIELDS, "not allowed with safe_to_retry: true");
        } else {
            sideEffects(tool, fields);
        }
        fields.end();
        return tool.build();
    }

    private ToolSpec.Builder declared(ToolEntry entry) throws YamlProblem {
        for (ToolKind kind : kinds) {
            Optional<YamlValue> field = kind.field().flatMap(entry.fields()::take);
            if (field.isPresent()) {
                return kind.read(field.get(), entry);
            }
        }
        throw entry.fields().missing("command");
    }

    private void sideEffects(ToolSpec.Builder tool, YamlFields fields) throws YamlProblem {
        Optional<YamlValue> dedupe = fields.take("dedupe");
        if (dedupe.isPresent() && dedupe.get().oneOf("call", "session").equals("session")) {
            tool.deduplicated();
        }
        Optional<YamlValue> verify = fields.take("verify");
        if (verify.isPresent()) {
            tool.verifiedBy(ToolEntry.program(verify.get(), directory).toArray(String[]::new));
        }
        Optional<YamlValue> verifyForbids = fields.take("verify_forbids");
        if (verifyForbids.isPresent() && verifyForbids.get().flag()) {
            if (verify.isEmpty()) {
                throw verifyForbids.get().problem("not allowed without verify");
            }
            tool.forbiddingByVerify();
        }
        Optional<YamlValue> onUnknown = fields.take("on_unknown");
        if (onUnknown.isPresent() && onUnknown.get().oneOf("report", "ask").equals("ask")) {
            tool.askingOnUnknown();
        }
        Optional<YamlValue> honoursKey = fields.take("honours_key");
        if (honoursKey.isPresent() && honoursKey.get().flag()) {
            tool.honouringKey();
        }
    }

    private static Json context(YamlValue value) throws YamlProblem {
        value.fields();
        Json context = value.json();
        int length = context.canonical().length();
        if (length > LONGEST_CONTEXT) {
            throw value.problem("too large: " + length + " characters as JSON, at most " + LONGEST_CONTEXT);
        }
        return context;
    }

    private static SummaryRule summaries(YamlValue value) throws YamlProblem {
        YamlFields fields = value.fields();
        Optional<YamlValue> whenTokens = fields.take("when_tokens");
        Optional<YamlValue> keepMessages = fields.take("keep_messages");
        fields.end();
        return new SummaryRule(
                whenTokens.isPresent() ? whenTokens.get().whole(1) : SummaryRule.DEFAULT.whenTokens(),
                keepMessages.isPresent() ? keepMessages.get().integer(1) : SummaryRule.DEFAULT.keepMessages());
    }

    /** Whether prices are known for what the agent asks. */
    boolean hasPrices(AgentSpec agent) {
        return models.withoutPrice(agent).isEmpty();
    }

    private static Budget budget(YamlValue value, List<String> priceless) throws YamlProblem {
        YamlFields fields = value.fields();
        Optional<YamlValue> usd = fields.take("usd");
        Optional<YamlValue> tokens = fields.take("tokens");
        fields.end();
        if (usd.isPresent() && !priceless.isEmpty()) {
            throw usd.get().problem("no price is known for " + String.join(", ", priceless) + ". Set pricing");
        }
        return new Budget(
                usd.isPresent() ? Optional.of(dollars(usd.get())) : Optional.empty(),
                tokens.isPresent() ? Optional.of(tokens.get().whole(1)) : Optional.empty());
    }

    private static Usd dollars(YamlValue value) throws YamlProblem {
        BigDecimal dollars = value.number();
        if (dollars.signum() <= 0 || dollars.compareTo(MOST_DOLLARS) > 0) {
            throw value.problem("expected more than 0 to " + MOST_DOLLARS + " dollars, found " + dollars);
        }
        return Usd.of(dollars);
    }

    private static String toolName(YamlValue value) throws YamlProblem {
        String name = value.text();
        if (!ToolNames.isWellFormed(name)) {
            throw value.problem("a tool's name has 1 to 64 characters A-Z a-z 0-9 _ -, found " + name);
        }
        if (ToolNames.isTaken(name)) {
            throw value.problem("this name is reserved: " + name);
        }
        return name;
    }

    private static Json schema(YamlValue value) throws YamlProblem {
        value.fields();
        Json schema = value.json();
        Optional<String> problem = ToolArguments.malformation(schema);
        if (problem.isPresent()) {
            throw value.problem(problem.get());
        }
        return schema;
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

    private static int bytes(AgentSpec agent) {
        try {
            return PayloadJson.MAPPER.writeValueAsBytes(agent).length;
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }
}
