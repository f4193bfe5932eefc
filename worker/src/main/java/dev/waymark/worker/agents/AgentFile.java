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
import dev.waymark.worker.yaml.YamlValue;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
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

    /** Limited, because each thread's history records the agent in one payload. */
    private static final int LARGEST_BYTES = 128 * 1024;

    /** Limited, because the context, with the fields that a caller adds, must fit into one environment variable. */
    private static final int LONGEST_CONTEXT = 32 * 1024;

    private static final BigDecimal MOST_DOLLARS = new BigDecimal(1_000_000);

    private static final Set<String> EFFECT_FIELDS =
            Set.of("dedupe", "verify", "verify_forbids", "on_unknown", "honours_key");

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
    private static final String UNNAMED = "unnamed";

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
            int bytes = bytes(complete);
            if (bytes > LARGEST_BYTES) {
                throw root.problem("too large: " + bytes + " bytes as JSON, at most " + LARGEST_BYTES);
            }
            return complete;
        }

        /** Returns a problem with a direct or indirect subagent, located at the first subagent that the file names. */
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
        Optional<YamlValue> silence = fields.take("silence");
        Optional<YamlValue> retryFor = fields.take("retry_for");
        Optional<YamlValue> fallback = fields.take("fallback");
        Optional<YamlValue> fallbackOn = fields.take("fallback_on");
        Optional<YamlValue> maxTokens = fields.take("max_tokens");
        Optional<YamlValue> maxIterations = fields.take("max_iterations");
        Optional<YamlValue> continueCut = fields.take("continue_cut");
        Optional<YamlValue> tools = fields.take(TOOLS);
        Optional<YamlValue> approvals = fields.take("approvals");
        Optional<YamlValue> subagents = fields.take("subagents");
        Optional<YamlValue> budget = fields.take("budget");
        Optional<YamlValue> pricing = fields.take("pricing");
        Optional<YamlValue> context = fields.take("context");
        Optional<YamlValue> summarize = fields.take("summarize");
        Optional<YamlValue> results = fields.take("results");
        Optional<YamlValue> skills = fields.take("skills");
        Optional<YamlValue> fuse = fields.take("fuse");
        Optional<YamlValue> announce = fields.take("announce");
        problems.run(fields::end);
        Optional<String> modelName = model.flatMap(value -> problems.check(() -> modelFields.model(value)));
        AgentSpec.Builder builder = new AgentSpec.Builder(name.orElse(UNNAMED), modelName.orElse(""));
        problems.read(description, YamlValue::text).ifPresent(builder::description);
        problems.read(instructions, YamlValue::text).ifPresent(builder::instructions);
        Optional<Integer> mostTokens = problems.read(maxTokens, value -> value.integer(1));
        int limit = mostTokens.orElseGet(() -> modelName.map(models::maxTokens).orElse(AgentSpec.DEFAULT_MAX_TOKENS));
        builder.maxTokens(limit);
        modelName.ifPresent(named -> problems.read(options, value -> modelFields.options(value, named, limit))
                .ifPresent(builder::options));
        problems.read(silence, ModelFields::silence).ifPresent(builder::silence);
        problems.read(retryFor, AgentFile::retryFor).ifPresent(builder::retryFor);
        Optional<List<FallbackModel>> others =
                modelName.flatMap(named -> problems.read(fallback, value -> modelFields.fallback(value, named, limit)));
        others.ifPresent(builder::fallback);
        if (mostTokens.isEmpty()) {
            others.ifPresent(all -> builder.maxTokens(all.stream()
                    .map(FallbackModel::model)
                    .map(models::maxTokens)
                    .reduce(limit, Math::min)));
        }
        if (problems.read(fallbackOn, value -> isOnRefusal(value, fallback)).orElse(false)) {
            builder.fallbackOnRefusal();
        }
        problems.read(maxIterations, value -> value.integer(1)).ifPresent(builder::maxIterations);
        problems.read(continueCut, AgentFile::continueCut).ifPresent(builder::continueCut);
        problems.read(results, AgentFile::results).ifPresent(builder::results);
        problems.read(skills, this::skills).ifPresent(builder::skills);
        FoundTools found = new FoundTools();
        Set<String> taken = found.names(); // The agent has these tools already.
        results.ifPresent(rule -> taken.add(BuiltInTools.readResult().name()));
        skills.ifPresent(folders -> taken.add(Skills.READ_TOOL));
        List<McpEntry> servers = found.servers();
        problems.read(tools, value -> tools(value, found, builder));
        problems.read(approvals, ApprovalFields::read).ifPresent(builder::approvals);
        pricing.ifPresent(value ->
                builder.pricing(problems.check(() -> ModelTable.pricing(value)).orElse(Pricing.FREE)));
        List<String> priceless = modelName.isPresent() ? models.withoutPrice(builder.build()) : List.of();
        problems.read(budget, value -> budget(value, priceless)).ifPresent(builder::budget);
        problems.read(context, AgentFile::context).ifPresent(builder::context);
        problems.read(summarize, value -> summaries(value, modelName)).ifPresent(builder::summaries);
        problems.read(fuse, AgentFile::fuse).ifPresent(builder::fuse);
        problems.read(announce, AnnounceFields::read).ifPresent(builder::announce);
        List<YamlValue> references = problems.read(subagents, YamlValue::items).orElse(List.of());
        problems.end();
        AgentSpec agent = builder.build();
        Optional<String> choice = ModelChecks.toolChoiceProblem(agent);
        // MCP servers and subagents add tools that are not known yet.
        if (choice.isPresent() && servers.isEmpty() && references.isEmpty()) {
            throw options.or(() -> fallback).orElse(root).problem("tool_choice: " + choice.get());
        }
        int bytes = bytes(agent);
        if (bytes > LARGEST_BYTES) {
            throw root.problem("too large: " + bytes + " bytes as JSON, at most " + LARGEST_BYTES);
        }
        return new Definition(agent, List.copyOf(servers), root, references);
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
                    fields.flatMap(all -> otherProblems.read(all.take("name"), YamlValue::text))
                            .orElseGet(() -> stem(file)),
                    fields.flatMap(all -> otherProblems.read(all.take("subagents"), YamlValue::items))
                            .orElse(List.of()));
        }
    }

    /** Reads {@code fallback_on: [refusal]}. */
    private static boolean isOnRefusal(YamlValue list, Optional<YamlValue> fallback) throws YamlProblem {
        if (fallback.isEmpty()) {
            throw list.problem("needs fallback");
        }
        for (YamlValue cause : list.items()) {
            if (!cause.text().equals("refusal")) {
                throw cause.problem("expected refusal, found " + cause.text()
                        + ". Models that are out of service are always passed on");
            }
        }
        return !list.items().isEmpty();
    }

    private static Duration fuse(YamlValue value) throws YamlProblem {
        return orZero(value, ModelChecks::fuseProblem);
    }

    private static int continueCut(YamlValue value) throws YamlProblem {
        int times = value.integer(0);
        if (times > AgentSpec.MOST_CONTINUATIONS) {
            throw value.problem("must be at most " + AgentSpec.MOST_CONTINUATIONS + ", found " + times);
        }
        return times;
    }

    private static Duration retryFor(YamlValue value) throws YamlProblem {
        return orZero(value, ModelChecks::retryForProblem);
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
        Optional<YamlValue> given = fields.take("name");
        String name = given.isPresent() ? given.get().text() : stem(file);
        if (!ToolNames.isWellFormed(name)) {
            throw given.orElse(root).problem("an agent's name has 1 to 64 characters A-Z a-z 0-9 _ -, found " + name);
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
        YamlProblems problems = new YamlProblems();
        for (YamlValue item : list.items()) {
            problems.run(() -> addTools(item, found));
        }
        problems.end();
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
        YamlFields fields = fieldsOfTool(item);
        Optional<YamlValue> mcp = fields.take(MCP);
        Optional<YamlValue> list = fields.take(TOOLS);
        if (mcp.isPresent()) {
            YamlProblems problems = new YamlProblems();
            problems.run(fields::end);
            problems.read(mcp, value -> server(value, found.servers())).ifPresent(found.servers()::add);
            problems.end();
        } else if (list.isPresent()) {
            YamlProblems problems = new YamlProblems();
            boolean deferred =
                    problems.read(fields.take("deferred"), YamlValue::flag).orElse(false);
            problems.run(fields::end);
            for (YamlValue each : list.get().items()) {
                problems.run(() -> {
                    YamlFields own = fieldsOfTool(each);
                    own.refuse(Set.of(MCP), "not allowed here; an MCP server has its own field deferred");
                    addTools(each, own, deferred ? found.deferred() : found.tools(), found.names());
                });
            }
            problems.end();
        } else {
            addTools(item, fields, found.tools(), found.names());
        }
    }

    private static YamlFields fieldsOfTool(YamlValue item) throws YamlProblem {
        if (!item.isMapping()) {
            throw item.problem("expected fields, such as use: files");
        }
        return item.fields();
    }

    private void addTools(YamlValue item, YamlFields fields, List<ToolSpec> tools, Set<String> names)
            throws YamlProblem {
        Optional<YamlValue> use = fields.take(USE);
        for (ToolSpec tool : use.isPresent() ? used(use.get(), fields) : List.of(own(fields))) {
            if (!names.add(tool.name())) {
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
        YamlProblems problems = new YamlProblems();
        Optional<YamlValue> approval = fields.take("approval");
        boolean untrusted =
                problems.read(fields.take("untrusted"), YamlValue::flag).orElse(false);
        problems.run(fields::end);
        Optional<List<ToolSpec>> tools =
                problems.check(() -> named(use)).flatMap(all -> problems.check(() -> approved(all, approval)));
        problems.end();
        return tools.orElseThrow().stream()
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
        YamlProblems problems = new YamlProblems();
        List<ToolSpec> changed = new ArrayList<>();
        for (ToolSpec tool : tools) {
            Optional<YamlValue> said = Optional.ofNullable(byName.remove(tool.name()));
            changed.add(problems.read(said, value -> approved(tool, value)).orElse(tool));
        }
        byName.forEach((name, value) -> problems.add(value.problem("there is no tool " + name + " here")));
        problems.end();
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
    private ToolSpec own(YamlFields fields) throws YamlProblem {
        YamlProblems problems = new YamlProblems();
        String name = problems.check(() -> toolName(fields.require("name"))).orElse(UNNAMED);
        Optional<YamlValue> description = fields.take("description");
        Json input = problems.read(fields.take("input"), AgentFile::input).orElse(Json.of(Map.of("type", "object")));
        Optional<KindField> kind = kind(fields);
        if (kind.isEmpty()) {
            List<String> names = new ArrayList<>(List.of(USE, MCP));
            kinds.forEach(each -> each.field().ifPresent(names::add));
            problems.add(fields.missing(names));
        }
        Optional<ToolSpec.Builder> declared =
                kind.flatMap(field -> problems.check(() -> field.read(new ToolEntry(name, input, fields, directory))));
        // Checks the fields that all kinds share even if the kind is missing or invalid.
        ToolSpec.Builder tool = declared.orElseGet(() -> ToolSpec.command(name, "true"));
        tool.describedAs(problems.read(description, YamlValue::text).orElse(""), input);
        problems.read(fields.take("output"), AgentFile::schema).ifPresent(tool::output);
        problems.read(fields.take("timeout"), ToolEntry::timeout).ifPresent(tool::timeout);
        problems.read(fields.take("approval"), value -> ToolEntry.approval(value, input))
                .ifPresent(rules -> ToolEntry.approved(tool, rules));
        if (problems.read(fields.take("untrusted"), YamlValue::flag).orElse(false)) {
            tool.untrusted();
        }
        Optional<YamlValue> env = kind.flatMap(known -> fields.take("env"));
        problems.read(env, value -> verifyEnvironment(value, fields)).ifPresent(tool::env);
        if (problems.read(fields.take("safe_to_retry"), YamlValue::flag).orElse(false)) {
            tool.safeToRetry();
            problems.run(() -> fields.refuse(EFFECT_FIELDS, "not allowed with safe_to_retry: true"));
        } else {
            sideEffects(tool, fields, problems);
        }
        if (kind.isPresent()) {
            problems.run(fields::end);
        }
        problems.end();
        return tool.build();
    }

    /** Reads the environment variables of the verify program, for a tool that is not a program itself. */
    private static Map<String, String> verifyEnvironment(YamlValue value, YamlFields fields) throws YamlProblem {
        if (!fields.has("verify")) {
            throw value.problem("only for tools that run a program");
        }
        return ToolEntry.environment(value);
    }

    private record KindField(ToolKind<?> kind, YamlValue value) {
        ToolSpec.Builder read(ToolEntry entry) throws YamlProblem {
            return kind.read(value, entry);
        }
    }

    private Optional<KindField> kind(YamlFields fields) {
        return kinds.stream()
                .flatMap(kind -> kind.field().flatMap(fields::take).map(value -> new KindField(kind, value)).stream())
                .findFirst();
    }

    private void sideEffects(ToolSpec.Builder tool, YamlFields fields, YamlProblems problems) {
        problems.read(fields.take("dedupe"), value -> value.oneOf("call", "session"))
                .filter("session"::equals)
                .ifPresent(session -> tool.dedupe());
        Optional<YamlValue> verify = fields.take("verify");
        problems.read(verify, value -> ToolEntry.program(value, directory))
                .ifPresent(program -> tool.verify(program.toArray(String[]::new)));
        if (problems.read(fields.take("verify_forbids"), value -> verifyForbids(value, verify.isPresent()))
                .orElse(false)) {
            tool.verifyForbids();
        }
        problems.read(fields.take("on_unknown"), value -> value.oneOf("report", "ask"))
                .filter("ask"::equals)
                .ifPresent(ask -> tool.askOnUnknown());
        if (problems.read(fields.take("honours_key"), YamlValue::flag).orElse(false)) {
            tool.honoursKey();
        }
    }

    private static boolean verifyForbids(YamlValue value, boolean verifies) throws YamlProblem {
        boolean forbids = value.flag();
        if (forbids && !verifies) {
            throw value.problem("not allowed without verify");
        }
        return forbids;
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

    private Skills skills(YamlValue list) throws YamlProblem {
        List<Skills.Skill> found = new ArrayList<>();
        YamlProblems problems = new YamlProblems();
        List<String> folders = new ArrayList<>();
        for (YamlValue item : list.items()) {
            problems.check(item::words).ifPresent(folder -> {
                folders.add(folder);
                SkillFolders.find(directory, folder, found).forEach(words -> problems.add(item.problem(words)));
            });
        }
        problems.end();
        if (folders.isEmpty()) {
            throw list.problem("no folders given");
        }
        return new Skills(folders, found);
    }

    private static ResultRule results(YamlValue value) throws YamlProblem {
        YamlFields fields = value.fields();
        YamlProblems problems = new YamlProblems();
        Optional<ResultRule> shown = problems.read(fields.take("show"), AgentFile::shown);
        problems.run(fields::end);
        problems.end();
        return shown.orElse(ResultRule.DEFAULT);
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
        YamlProblems problems = new YamlProblems();
        Optional<Integer> window = model.flatMap(models::contextWindow);
        Optional<Long> whenTokens = problems.read(fields.take("when_tokens"), tokens -> whenTokens(tokens, window));
        Optional<Integer> keepMessages = problems.read(fields.take("keep_messages"), messages -> messages.integer(1));
        problems.run(fields::end);
        problems.end();
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
        YamlProblems problems = new YamlProblems();
        Optional<Usd> usd = problems.read(fields.take("usd"), amount -> dollars(amount, priceless));
        Optional<Long> tokens = problems.read(fields.take("tokens"), amount -> amount.whole(1));
        problems.run(fields::end);
        problems.end();
        return new Budget(usd, tokens);
    }

    private static Usd dollars(YamlValue value, List<String> priceless) throws YamlProblem {
        if (!priceless.isEmpty()) {
            throw value.problem("no price is known for " + String.join(", ", priceless) + ". Set pricing");
        }
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
            return PayloadJson.MAPPER.writeValueAsBytes(agent).length
                    - agent.deferred().map(DeferredTools::encodedBytes).orElse(0);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }
}
