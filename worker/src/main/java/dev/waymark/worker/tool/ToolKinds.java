package dev.waymark.worker.tool;

import dev.waymark.agent.DeferredTools;
import dev.waymark.agent.McpTool;
import dev.waymark.agent.Skills;
import dev.waymark.agent.ToolImplementation;
import dev.waymark.agent.ToolSpec;
import dev.waymark.worker.process.CommandRunner;
import dev.waymark.worker.tool.command.CommandToolKind;
import dev.waymark.worker.tool.find.FindToolKind;
import dev.waymark.worker.tool.frontend.FrontEndToolKind;
import dev.waymark.worker.tool.http.HttpRunner;
import dev.waymark.worker.tool.http.HttpToolKind;
import dev.waymark.worker.tool.java.JavaTools;
import dev.waymark.worker.tool.kind.ToolKind;
import dev.waymark.worker.tool.kind.ToolPrograms;
import dev.waymark.worker.tool.mcp.McpConnections;
import dev.waymark.worker.tool.mcp.McpDiscovery;
import dev.waymark.worker.tool.mcp.McpToolKind;
import dev.waymark.worker.tool.skill.SkillToolKind;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The tool kinds that a worker runs. A new kind is added to the constructor and to {@link #all}. Thread-safe. */
public final class ToolKinds implements AutoCloseable {
    /** Memory that a running tool may need for its arguments and its result, each of which exists in several forms. */
    private static final int BYTES_EACH = 1024 * 1024;

    /**
     * The maximum number of concurrent calls of one kind: as many as fit into a quarter of the heap, but at least 8.
     */
    private static final int MOST_SLOTS =
            (int) Math.max(8, Math.min(1_000, Runtime.getRuntime().maxMemory() / 4 / BYTES_EACH));

    private final Limited<ToolImplementation.Http> http;
    private final Limited<ToolImplementation.Command> command;
    private final Limited<McpTool> mcp;
    private final Limited<ToolImplementation.Plain> java;
    private final Limited<ToolImplementation.Plain> frontEnd;
    private final Limited<Skills> skills;
    private final Limited<DeferredTools> find;
    private final McpConnections servers;
    private final Map<String, String> environment;
    private final JavaTools tools;

    /**
     * Starts processes and connections only when they are needed.
     *
     * @param environment the worker's environment, in which <code>${NAME}</code> is resolved
     * @param directory the directory of the agent files, where programs run and paths of skills begin
     */
    public ToolKinds(Map<String, String> environment, Path directory, JavaTools tools) {
        this.environment = environment;
        this.tools = tools;
        ToolPrograms programs = new ToolPrograms(new CommandRunner(environment), directory);
        servers = new McpConnections(environment, directory);
        http = new Limited<>(new HttpToolKind(new HttpRunner(environment), programs));
        command = new Limited<>(new CommandToolKind(programs));
        mcp = new Limited<>(new McpToolKind(servers));
        java = new Limited<>(new JavaToolKind(tools, ""));
        frontEnd = new Limited<>(new FrontEndToolKind());
        skills = new Limited<>(new SkillToolKind(directory));
        find = new Limited<>(new FindToolKind());
    }

    private ToolKinds(ToolKinds all, String agent) {
        environment = all.environment;
        tools = all.tools;
        servers = all.servers;
        http = all.http;
        command = all.command;
        mcp = all.mcp;
        java = new Limited<>(new JavaToolKind(tools, agent), all.java.slots());
        frontEnd = all.frontEnd;
        skills = all.skills;
        find = all.find;
    }

    /** The same kinds, with the Java tools as this agent has them. */
    ToolKinds in(String agent) {
        return new ToolKinds(this, agent);
    }

    /** A kind with the slots for its calls. */
    private record Limited<T extends ToolImplementation>(ToolKind<T> kind, ToolSlots slots) {
        Limited(ToolKind<T> kind) {
            this(kind, new ToolSlots(Math.min(kind.slots(), MOST_SLOTS)));
        }

        BoundTool<T> bind(T implementation) {
            return new BoundTool<>(kind, slots, implementation);
        }
    }

    /** The variables in which <code>${NAME}</code> is resolved. */
    Map<String, String> environment() {
        return environment;
    }

    /** All kinds, in the order in which they are tried for an entry of an agent file. */
    public List<ToolKind<?>> all() {
        return List.of(
                http.kind(), command.kind(), mcp.kind(), java.kind(), frontEnd.kind(), skills.kind(), find.kind());
    }

    ToolSlots programSlots() {
        return command.slots();
    }

    /** Throws IllegalStateException for tools without an activity, which the conversation runs itself. */
    BoundTool<?> of(ToolSpec tool) {
        return tool.implementation().accept(new ToolImplementation.Cases<BoundTool<?>>() {
            @Override
            public BoundTool<?> command(ToolImplementation.Command program) {
                return command.bind(program);
            }

            @Override
            public BoundTool<?> http(ToolImplementation.Http request) {
                return http.bind(request);
            }

            @Override
            public BoundTool<?> mcp(McpTool remote) {
                return mcp.bind(remote);
            }

            @Override
            public BoundTool<?> java(ToolImplementation.Plain object) {
                return java.bind(object);
            }

            @Override
            public BoundTool<?> frontEnd(ToolImplementation.Plain elsewhere) {
                return frontEnd.bind(elsewhere);
            }

            @Override
            public BoundTool<?> skills(Skills found) {
                return skills.bind(found);
            }

            @Override
            public BoundTool<?> deferred(DeferredTools own) {
                return find.bind(own);
            }

            @Override
            public BoundTool<?> inWorkflow(ToolImplementation.Plain kind) {
                throw new IllegalStateException("a built-in tool has no activity: " + tool.name());
            }
        });
    }

    /** Lists the tools of MCP servers, over the connections that calls use. */
    public McpDiscovery discovery() {
        return new McpDiscovery(servers);
    }

    @Override
    public void close() {
        all().forEach(ToolKind::close);
    }
}
