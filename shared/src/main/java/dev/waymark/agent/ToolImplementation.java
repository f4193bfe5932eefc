package dev.waymark.agent;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What runs the calls of a tool, with the data that only tools of this kind have. */
public sealed interface ToolImplementation
        permits DeferredTools,
                McpTool,
                Skills,
                ToolImplementation.Command,
                ToolImplementation.Http,
                ToolImplementation.Plain {
    /** The kind, as histories, commands and metrics name it. */
    ToolSpec.Kind kind();

    /** Calls the method for this kind. */
    <R> R accept(Cases<R> cases);

    /** The variables that the tool's programs get, including the program that verifies a lost call. */
    default Map<String, String> env() {
        return Map.of();
    }

    /** The limits of what the tool's programs can reach; empty for everything that the worker's user can reach. */
    default Optional<Sandbox> sandbox() {
        return Optional.empty();
    }

    /**
     * A copy whose programs get these variables and this sandbox.
     *
     * @throws IllegalStateException if such a tool runs no programs
     */
    default ToolImplementation withPrograms(Map<String, String> env, Optional<Sandbox> sandbox) {
        throw new IllegalStateException("a tool of kind " + kind()
                + " runs no programs. Set env and sandboxed only for commands and HTTP requests");
    }

    /** The texts that may contain <code>${NAME}</code>, whose values are secrets. */
    default List<String> references() {
        return List.copyOf(env().values());
    }

    /** One method for each kind. */
    interface Cases<R> {
        /** Handles a program. */
        R command(Command command);

        /** Handles an HTTP request. */
        R http(Http http);

        /** Handles a tool of an MCP server. */
        R mcp(McpTool mcp);

        /** Handles the tool that reads skills. */
        R skills(Skills skills);

        /** Handles the tools that find and call deferred tools. */
        R deferred(DeferredTools deferred);

        /** Handles a Java object. */
        R java(Plain java);

        /** Handles what a front end runs. */
        R frontEnd(Plain frontEnd);

        /** Handles what the workflow does itself: a question, a change of the thread's state, or a subagent. */
        R inWorkflow(Plain kind);
    }

    /** A program that the worker starts. */
    record Command(List<String> program, Map<String, String> env, Optional<Sandbox> sandbox)
            implements ToolImplementation {
        public Command {
            program = List.copyOf(program);
            env = Collections.unmodifiableMap(new LinkedHashMap<>(env));
        }

        @Override
        public ToolSpec.Kind kind() {
            return ToolSpec.Kind.COMMAND;
        }

        @Override
        public ToolImplementation withPrograms(Map<String, String> variables, Optional<Sandbox> reach) {
            return new Command(program, variables, reach);
        }

        @Override
        public <R> R accept(Cases<R> cases) {
            return cases.command(this);
        }
    }

    /** An HTTP request that the worker sends. The variables and the sandbox are those of the program that verifies it. */
    record Http(Endpoint endpoint, Map<String, String> env, Optional<Sandbox> sandbox) implements ToolImplementation {
        public Http {
            env = Collections.unmodifiableMap(new LinkedHashMap<>(env));
        }

        @Override
        public ToolSpec.Kind kind() {
            return ToolSpec.Kind.HTTP;
        }

        @Override
        public ToolImplementation withPrograms(Map<String, String> variables, Optional<Sandbox> reach) {
            return new Http(endpoint, variables, reach);
        }

        @Override
        public List<String> references() {
            List<String> references = new ArrayList<>(env.values());
            references.add(endpoint.url());
            references.addAll(endpoint.headers().values());
            return references;
        }

        @Override
        public <R> R accept(Cases<R> cases) {
            return cases.http(this);
        }
    }

    /** The implementations that have no data of their own. */
    enum Plain implements ToolImplementation {
        /** A Java object that the worker was built with. */
        JAVA(ToolSpec.Kind.JAVA),
        /** A front end, such as a browser, which answers with the result. */
        FRONT_END(ToolSpec.Kind.FRONT_END),
        /** A person answers. */
        QUESTION(ToolSpec.Kind.QUESTION),
        /** The rules of the conversation. Such a tool changes only the thread's own state. */
        STATE(ToolSpec.Kind.STATE),
        /** The agent with the tool's name, in a thread of its own. */
        SUBAGENT(ToolSpec.Kind.SUBAGENT);

        private final ToolSpec.Kind kind;

        Plain(ToolSpec.Kind kind) {
            this.kind = kind;
        }

        @Override
        public ToolSpec.Kind kind() {
            return kind;
        }

        @Override
        public <R> R accept(Cases<R> cases) {
            return switch (this) {
                case JAVA -> cases.java(this);
                case FRONT_END -> cases.frontEnd(this);
                case QUESTION, STATE, SUBAGENT -> cases.inWorkflow(this);
            };
        }
    }
}
