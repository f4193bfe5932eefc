package dev.waymark.starter.worker;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.DeferredTools;
import dev.waymark.agent.McpTool;
import dev.waymark.agent.ToolSpec;
import dev.waymark.cli.CommandFailure;
import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.CommandName;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.contract.work.AgentPolicies;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.conversation.value.IdempotencyKey;
import dev.waymark.conversation.value.Json;
import dev.waymark.display.Excerpt;
import dev.waymark.display.SafeText;
import dev.waymark.starter.render.Output;
import dev.waymark.tool.ToolContext;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.tool.ToolRunner;
import dev.waymark.worker.tool.kind.ToolRun;
import io.temporal.failure.ApplicationFailure;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@HelpEntry(
        group = CommandGroup.RUN_AGENTS,
        examples = {"tools assistant", "tools assistant --call NAME '{\"id\":7}'"})
@Command(
        name = "tools",
        description = {
            "Lists the tools that a new thread of an agent would have, or runs a safe one.",
            "Shows whether the tools are safe to retry. Reads the agent file and queries its MCP servers directly; does"
                    + " not need a running worker."
        })
public final class ToolsCommand implements Callable<Integer> {
    /** The id of a thread that does not exist, because a call of this command is not recorded in any thread. */
    private static final String NOWHERE = "tools";

    private static final int LONGEST_DESCRIPTION = 80;

    @Mixin
    private Output output;

    @Mixin
    private AgentsOptions agents;

    @Mixin
    private AgentLookup agent;

    @Option(
            names = "--call",
            paramLabel = "NAME",
            description = "Run this tool with the JSON arguments, if it is safe to retry.")
    private @Nullable String call;

    /** What calling a tool means. This command runs only safe tools. */
    private enum Safety {
        /** Running the tool twice is harmless. */
        SAFE,
        /** The tool has side effects, so that a second run may do harm. */
        SIDE_EFFECTING,
        /** A person or a front end answers. */
        ASKS,
        /** The call changes only the thread's own state. */
        STATE,
        /** The call runs in a separate thread, which is started once. */
        SUBAGENT;

        static Safety of(ToolSpec tool) {
            if (tool.kind() == ToolSpec.Kind.FRONT_END) {
                return ASKS;
            }
            return switch (AgentPolicies.executor(tool.kind())) {
                case QUESTION -> ASKS;
                case STATE -> STATE;
                case SUBAGENT -> SUBAGENT;
                case ACTIVITY -> tool.hasEffect() ? SIDE_EFFECTING : SAFE;
            };
        }

        String words() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    record Row(
            String name,
            ToolSpec.Kind kind,
            String safety,
            String approval,
            String description,
            Optional<String> server,
            Optional<String> tool,
            @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean deferred,
            Json input) {

        static Row of(ToolSpec tool, boolean deferred) {
            Optional<McpTool> mcp =
                    tool.implementation() instanceof McpTool remote ? Optional.of(remote) : Optional.empty();
            return new Row(
                    tool.name(),
                    tool.kind(),
                    Safety.of(tool).words(),
                    tool.isRuled() ? "rules" : tool.approval() ? "always" : "never",
                    tool.description(),
                    mcp.map(McpTool::server).map(server -> server.name()),
                    mcp.map(McpTool::tool),
                    deferred,
                    tool.input());
        }
    }

    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    record Came(String tool, Optional<String> result, Optional<String> error, Optional<String> question) {}

    @Override
    public Integer call() throws Exception {
        WorkerLog.toStderr(output.isVerbose());
        return agent.find(agents, call, output, (found, setup, kinds) -> {
            if (call == null) {
                list(found);
                found.deferred().ifPresent(this::noteDeferred);
                noteIgnoredHints(setup);
                return ExitCode.DONE;
            }
            return attempt(
                    AgentLookup.tool(found, call), found.context().orElse(Json.EMPTY_OBJECT), new ToolRunner(kinds));
        });
    }

    private void list(AgentSpec found) {
        int sent = found.tools().size();
        List<ToolSpec> all = found.allTools();
        List<Row> rows = IntStream.range(0, all.size())
                .mapToObj(i -> Row.of(all.get(i), i >= sent))
                .toList();
        if (output.isJson()) {
            output.document(rows);
            return;
        }
        if (rows.isEmpty()) {
            output.note("Agent " + found.name() + " has no tools.");
            return;
        }
        int width = rows.stream().mapToInt(row -> row.name().length()).max().orElse(0);
        for (Row row : rows) {
            String approval = switch (row.approval()) {
                case "always" -> "approval";
                case "rules" -> "rules";
                default -> "";
            };
            output.line(String.format(
                            "%-" + width + "s  %-14s  %-" + (all.size() > sent ? 17 : 8) + "s  %s",
                            row.name(),
                            row.safety(),
                            row.deferred() ? (approval + " deferred").strip() : approval,
                            brief(row.description()))
                    .stripTrailing());
        }
    }

    private void noteDeferred(DeferredTools deferred) {
        output.note(deferred.count() + " deferred tools: their definitions have " + deferred.packedBytes()
                + " bytes packed, of at most " + DeferredTools.MOST_PACKED_BYTES + ". Try what a query finds with: "
                + CommandName.line(
                        "tools " + agent.name() + " --call " + DeferredTools.FIND_TOOL + " '{\"query\":\"…\"}'"));
    }

    /** Prints a note for each MCP server whose safety hints are ignored, because the agent file does not trust it. */
    private void noteIgnoredHints(AgentsOptions.Setup setup) {
        setup.agents().servers(agent.name()).stream()
                .filter(entry -> !entry.trust())
                .forEach(entry -> output.note(
                        "The MCP server " + SafeText.line(entry.server().name())
                                + " is not trusted, so all of its tools count as side-effecting. With trust: true in the agent"
                                + " file, tools that it marks as read-only or idempotent are safe to retry."));
    }

    private static String brief(String description) {
        String line = SafeText.line(description);
        return Excerpt.of(line, LONGEST_DESCRIPTION).text();
    }

    private int attempt(ToolSpec tool, Json carried, ToolRunner tools) throws Exception {
        Safety safety = Safety.of(tool);
        if (safety != Safety.SAFE) {
            throw CommandFailure.badInput(
                    safety == Safety.SIDE_EFFECTING
                            ? "tool has side effects: " + tool.name() + ", so it runs only in a thread"
                            : "tool runs only in a thread: " + tool.name(),
                    "Have the agent call it, with: " + CommandName.line("run --agent " + agent.name()));
        }
        Json args = agent.arguments();
        String key = IdempotencyKey.of(NOWHERE, tool.name(), args, 0);
        ToolContext context =
                new ToolContext(NOWHERE, NOWHERE, tool.name(), key, OptionalLong.empty(), carried, Optional.empty());
        ToolOutcome outcome = outcome(tool, args, context, tools);
        if (output.isJson()) {
            output.document(new Came(tool.name(), outcome.result(), outcome.error(), outcome.question()));
        } else {
            output.line(outcome.result()
                    .or(outcome::error)
                    .or(() -> outcome.question().map(question -> "It asks: " + question))
                    .orElse(""));
        }
        return outcome.error().isPresent() ? ExitCode.FAILED : ExitCode.DONE;
    }

    private static ToolOutcome outcome(ToolSpec tool, Json args, ToolContext context, ToolRunner tools)
            throws InterruptedException, CommandFailure {
        Optional<ToolOutcome> problem = tools.problem(tool, args);
        if (problem.isPresent()) {
            return problem.get();
        }
        try {
            return tools.run(ToolRun.unclaimed(tool, args, context, ProcessFence.in(tool.timeout()), () -> false));
        } catch (ApplicationFailure e) {
            throw new CommandFailure(ExitCode.FAILED, e.getType(), e.getOriginalMessage(), "");
        }
    }
}
