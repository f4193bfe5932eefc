package dev.waymark.agent;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.policy.AgentPolicy;
import dev.waymark.conversation.value.Json;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * A tool of an agent: its description for the model, and how it runs.
 *
 * <p>{@code safeToRetry} means that running twice is harmless. This concerns lost outcomes, not network errors: an
 * error that the tool itself reports is its result. A call of a tool that is not safe to retry is claimed before it
 * runs. If its outcome is lost, it runs again only after a check or a person has decided so.
 *
 * <pre>{@code
 * ToolSpec charge = ToolSpec.command("charge_card", "./charge.sh")
 *         .describedAs("Charges the customer's card", schema)
 *         .verifiedBy("./charge-verify.sh")
 *         .approved()
 *         .build();
 * }</pre>
 *
 * @param approval whether a person must approve every call
 * @param dedupe whether a repeated call with the same arguments returns the result of the thread's first success
 * @param verify the program that checks whether a lost call took effect
 * @param verifies whether a Java tool has such a check of its own
 * @param askOnUnknown whether a person settles a call whose outcome stays unknown; otherwise the model is told that the
 *     outcome is unknown
 * @param honoursKey whether the called system deduplicates requests by the idempotency key
 * @param verifyForbids whether a check that finds no effect also makes the called system refuse the lost call from then
 *     on, however late it arrives
 * @param output the JSON Schema of results
 * @param mcp the server and its tool, for an MCP tool
 * @param http how the request is sent, for an HTTP tool
 * @param sandbox what the tool's programs can reach; by default, everything that the worker's user can reach
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record ToolSpec(
        @JsonProperty("name") String name,
        @JsonProperty("description") String description,
        @JsonProperty("input") Json input,
        @JsonProperty("kind") Kind kind,
        @JsonProperty("safeToRetry") boolean safeToRetry,
        @JsonProperty("timeout") Duration timeout,
        @JsonProperty("command") List<String> command,
        @JsonProperty("env") Map<String, String> env,

        @JsonProperty("approval") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
        boolean approval,

        @JsonProperty("dedupe") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
        boolean dedupe,

        @JsonProperty("verify") List<String> verify,

        @JsonProperty("verifies") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
        boolean verifies,

        @JsonProperty("askOnUnknown") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
        boolean askOnUnknown,

        @JsonProperty("honoursKey") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
        boolean honoursKey,

        @JsonProperty("verifyForbids") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
        boolean verifyForbids,

        @JsonProperty("output") Optional<Json> output,
        @JsonProperty("http") Optional<Endpoint> http,
        @JsonProperty("mcp") Optional<McpTool> mcp,
        @JsonProperty("sandbox") Optional<Sandbox> sandbox) {
    /** The timeout of tools that do not set one. */
    public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(60);

    /** What executes a tool. The names are stored in histories. */
    public enum Kind {
        /** A person answers. */
        @JsonProperty("question")
        QUESTION(AgentPolicy.Executor.QUESTION),
        /** A Java object that the worker was built with. */
        @JsonProperty("java")
        JAVA(AgentPolicy.Executor.ACTIVITY),
        /** A program that the worker starts. */
        @JsonProperty("command")
        COMMAND(AgentPolicy.Executor.ACTIVITY),
        /** An MCP server. */
        @JsonProperty("mcp")
        MCP(AgentPolicy.Executor.ACTIVITY),
        /** An HTTP request that the worker sends. */
        @JsonProperty("http")
        HTTP(AgentPolicy.Executor.ACTIVITY),
        /** The rules of the conversation. Such a tool changes only the thread's own state. */
        @JsonProperty("state")
        STATE(AgentPolicy.Executor.STATE),
        /** The agent with the tool's name, in a thread of its own. */
        @JsonProperty("subagent")
        SUBAGENT(AgentPolicy.Executor.SUBAGENT);

        private final AgentPolicy.Executor executor;

        Kind(AgentPolicy.Executor executor) {
            this.executor = executor;
        }

        /** The executor that the conversation's rules use for tools of this kind. */
        public AgentPolicy.Executor executor() {
            return executor;
        }
    }

    @JsonCreator
    public ToolSpec {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(kind, "kind");
        description = description == null ? "" : description;
        input = input == null ? Json.of(Map.of("type", "object")) : input;
        timeout = timeout == null ? DEFAULT_TIMEOUT : timeout;
        command = command == null ? List.of() : List.copyOf(command);
        env = env == null ? Map.of() : Collections.unmodifiableMap(new LinkedHashMap<>(env));
        verify = verify == null ? List.of() : List.copyOf(verify);
        output = output == null ? Optional.empty() : output;
        mcp = mcp == null ? Optional.empty() : mcp;
        http = http == null ? Optional.empty() : http;
        sandbox = sandbox == null ? Optional.empty() : sandbox;
    }

    /** Builds a tool that runs a program. By default, it has side effects. */
    public static Builder command(String name, String... program) {
        Builder builder = new Builder(name, Kind.COMMAND);
        builder.command = List.of(program);
        return builder;
    }

    /** Builds a tool that sends an HTTP request. By default, it has side effects. */
    public static Builder http(String name, Endpoint endpoint) {
        Builder builder = new Builder(name, Kind.HTTP);
        builder.http = Optional.of(endpoint);
        return builder;
    }

    /** Builds a tool in Java. By default, it has side effects. */
    public static Builder java(String name) {
        return new Builder(name, Kind.JAVA);
    }

    /**
     * Builds a tool of an MCP server. By default, it has side effects.
     *
     * @param name the name that models see
     */
    public static Builder mcp(String name, McpServer server, String tool) {
        Builder builder = new Builder(name, Kind.MCP);
        builder.mcp = Optional.of(new McpTool(server, tool));
        return builder;
    }

    /** A tool that runs in no activity: its calls ask a person, change the thread's own state, or start a subagent. */
    static ToolSpec builtIn(String name, Kind kind, String description, Json input) {
        return new Builder(name, kind)
                .describedAs(description, input)
                .safeToRetry()
                .build();
    }

    /** A tool that gives a task to another agent. Each call starts exactly one thread of that agent. */
    public static ToolSpec subagent(String agent, String description) {
        Map<String, Object> task = new LinkedHashMap<>();
        task.put("type", "string");
        task.put("description", "The task, with everything that is needed for it: the agent knows nothing else.");
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("type", "object");
        schema.put("required", List.of("task"));
        schema.put("properties", Map.of("task", task));
        return builtIn(agent, Kind.SUBAGENT, description, Json.of(schema));
    }

    /** A builder with the values of this tool. */
    public Builder with() {
        return new Builder(this);
    }

    /** Whether a call must be granted a claim before it runs. */
    @JsonIgnore
    public boolean hasEffect() {
        return !safeToRetry;
    }

    /** The data about the tool's effects that the rules of a conversation need. */
    AgentPolicy.ToolPolicy policy() {
        if (!hasEffect()) {
            return new AgentPolicy.ToolPolicy(false, approval, false, false, false, false, 0);
        }
        boolean verified = !verify.isEmpty() || verifies;
        boolean rerun = kind == Kind.COMMAND || honoursKey;
        return new AgentPolicy.ToolPolicy(
                true,
                approval,
                dedupe,
                verified,
                askOnUnknown,
                rerun,
                timeout.toMillis(),
                honoursKey,
                verified && verifyForbids);
    }

    /** Builds a {@link ToolSpec}. */
    public static final class Builder {
        private final String name;
        private final Kind kind;
        private String description = "";
        private Json input = Json.of(Map.of("type", "object"));
        private boolean safeToRetry;
        private Duration timeout = DEFAULT_TIMEOUT;
        private List<String> command = List.of();
        private Map<String, String> env = Map.of();
        private boolean approval;
        private boolean dedupe;
        private List<String> verify = List.of();
        private boolean verifies;
        private boolean askOnUnknown;
        private boolean honoursKey;
        private boolean verifyForbids;
        private Optional<Json> output = Optional.empty();
        private Optional<McpTool> mcp = Optional.empty();
        private Optional<Endpoint> http = Optional.empty();
        private Optional<Sandbox> sandbox = Optional.empty();

        private Builder(String name, Kind kind) {
            this.name = name;
            this.kind = kind;
        }

        private Builder(ToolSpec spec) {
            this(spec.name, spec.kind);
            description = spec.description;
            input = spec.input;
            safeToRetry = spec.safeToRetry;
            timeout = spec.timeout;
            command = spec.command;
            env = spec.env;
            approval = spec.approval;
            dedupe = spec.dedupe;
            verify = spec.verify;
            verifies = spec.verifies;
            askOnUnknown = spec.askOnUnknown;
            honoursKey = spec.honoursKey;
            verifyForbids = spec.verifyForbids;
            output = spec.output;
            mcp = spec.mcp;
            http = spec.http;
            sandbox = spec.sandbox;
        }

        /** The tool's description, and the JSON Schema of its arguments, which must describe an object. */
        public Builder describedAs(String words, Json schema) {
            description = words;
            input = schema;
            return this;
        }

        /** Declares that running the tool twice is harmless. */
        public Builder safeToRetry() {
            safeToRetry = true;
            return this;
        }

        /** The maximum time of an execution. */
        public Builder timeout(Duration most) {
            timeout = most;
            return this;
        }

        /** Environment variables for the tool's programs. */
        public Builder env(Map<String, String> variables) {
            env = variables;
            return this;
        }

        /** Every call needs approval by a person. */
        public Builder approved() {
            approval = true;
            return this;
        }

        /** A repeated call with the same arguments returns the result of the thread's first success. */
        public Builder deduplicated() {
            dedupe = true;
            return this;
        }

        /** The program that checks whether a lost call took effect. */
        public Builder verifiedBy(String... program) {
            verify = List.of(program);
            return this;
        }

        /** The Java tool can check whether a lost call took effect. */
        public Builder verifiesItself() {
            verifies = true;
            return this;
        }

        /** A person settles calls whose outcome stays unknown. */
        public Builder askingOnUnknown() {
            askOnUnknown = true;
            return this;
        }

        /** The called system deduplicates requests by the idempotency key. */
        public Builder honouringKey() {
            honoursKey = true;
            return this;
        }

        /** A check that finds no effect makes the called system refuse the lost call from then on. */
        public Builder forbiddingByVerify() {
            verifyForbids = true;
            return this;
        }

        /** The schema of results; a result that does not match is an error. */
        public Builder returning(Json schema) {
            output = Optional.of(schema);
            return this;
        }

        /** Limits what the tool's programs can reach. */
        public Builder sandboxed(Sandbox reach) {
            sandbox = Optional.of(reach);
            return this;
        }

        /** Returns the tool with the values set so far. */
        public ToolSpec build() {
            return new ToolSpec(
                    name,
                    description,
                    input,
                    kind,
                    safeToRetry,
                    timeout,
                    command,
                    env,
                    approval,
                    dedupe,
                    verify,
                    verifies,
                    askOnUnknown,
                    honoursKey,
                    verifyForbids,
                    output,
                    http,
                    mcp,
                    sandbox);
        }
    }
}
