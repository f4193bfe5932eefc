package dev.waymark.agent;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.AgentPolicy;
import dev.waymark.conversation.value.Json;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * A tool of an agent: what the model is told of it, and how it is run.
 *
 * <p>{@code safeToRetry} says that running twice is harmless. It is about a lost outcome and not about network errors:
 * an error that the tool itself reports is its result. A tool that is not safe to retry is claimed before it runs, and
 * runs at most once for every call.
 *
 * <pre>{@code
 * ToolSpec charge = ToolSpec.command("charge_card", "./charge.sh")
 *         .describedAs("Charges the customer's card", schema)
 *         .verifiedBy("./charge-verify.sh")
 *         .approved()
 *         .build();
 * }</pre>
 *
 * @param approval a person decides on every call before it runs
 * @param dedupe the same arguments again in the thread replay the first success
 * @param verify the program that finds out whether a lost call took effect
 * @param verifies the same, of a tool in Java
 * @param askOnUnknown a person settles what nothing else can tell; otherwise the model is told
 * @param honoursKey the other side tells by the idempotency key that it was asked for the same thing before
 * @param verifyForbids when the check finds that a call did not take effect, it never will any more: the check has seen to it
 *     that the other side refuses it, however late it comes
 * @param output what a result must be, as a JSON Schema
 * @param mcp where it is, if a server of tools has it
 * @param http where requests go, of a tool that is one
 * @param sandbox what its programs may reach, if not all that the worker's user may
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
    public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(60);

    /** Where a tool is carried out. The names are stored. */
    public enum Kind {
        /** A person answers. */
        @JsonProperty("question")
        QUESTION(AgentPolicy.ToolKind.QUESTION),
        /** A Java object that the worker was built with. */
        @JsonProperty("java")
        JAVA(AgentPolicy.ToolKind.ACTIVITY),
        /** A program, started by the worker. */
        @JsonProperty("command")
        COMMAND(AgentPolicy.ToolKind.ACTIVITY),
        /** A server of tools, over the Model Context Protocol. */
        @JsonProperty("mcp")
        MCP(AgentPolicy.ToolKind.ACTIVITY),
        /** A request over HTTP, sent by the worker. */
        @JsonProperty("http")
        HTTP(AgentPolicy.ToolKind.ACTIVITY),
        /** The rules themselves: it changes nothing but the thread's own state. */
        @JsonProperty("state")
        STATE(AgentPolicy.ToolKind.STATE),
        /** The agent of the tool's name, in a thread of its own. */
        @JsonProperty("subagent")
        SUBAGENT(AgentPolicy.ToolKind.SUBAGENT);

        private final AgentPolicy.ToolKind rule;

        Kind(AgentPolicy.ToolKind rule) {
            this.rule = rule;
        }

        /** Who carries it out, as the rules of a conversation see it. */
        public AgentPolicy.ToolKind rule() {
            return rule;
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

    /** A side-effecting tool that is a program. */
    public static Builder command(String name, String... program) {
        Builder builder = new Builder(name, Kind.COMMAND);
        builder.command = List.of(program);
        return builder;
    }

    /** A side-effecting tool that is a request. */
    public static Builder http(String name, Endpoint endpoint) {
        Builder builder = new Builder(name, Kind.HTTP);
        builder.http = Optional.of(endpoint);
        return builder;
    }

    /** A side-effecting tool in Java. */
    public static Builder java(String name) {
        return new Builder(name, Kind.JAVA);
    }

    /** A side-effecting tool of a server of tools. {@code name} is what models call it by. */
    public static Builder mcp(String name, McpServer server, String tool) {
        Builder builder = new Builder(name, Kind.MCP);
        builder.mcp = Optional.of(new McpTool(server, tool));
        return builder;
    }

    /** A tool that the conversation carries out itself: by asking, or on its own state. */
    static ToolSpec builtIn(String name, Kind kind, String description, Json input) {
        return new Builder(name, kind)
                .describedAs(description, input)
                .safeToRetry()
                .build();
    }

    /** Another agent, to which a task can be given. Its thread is begun once for a call, whatever happens. */
    public static ToolSpec subagent(String agent, String description) {
        Map<String, Object> task = new LinkedHashMap<>();
        task.put("type", "string");
        task.put("description", "What to do, with all that is needed to do it: nothing else is known there.");
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("type", "object");
        schema.put("required", List.of("task"));
        schema.put("properties", Map.of("task", task));
        return builtIn(agent, Kind.SUBAGENT, description, Json.of(schema));
    }

    /** The same tool, with something changed. */
    public Builder with() {
        return new Builder(this);
    }

    /** Whether a claim must be granted before it runs. */
    @JsonIgnore
    public boolean hasEffect() {
        return !safeToRetry;
    }

    /** What the rules of a conversation have to mind about it. */
    AgentPolicy.Care care() {
        if (!hasEffect()) {
            return new AgentPolicy.Care(false, approval, false, false, false, false, 0);
        }
        boolean verified = !verify.isEmpty() || verifies;
        // Under the first rules a program could run again because its launcher ends it whatever becomes of the worker.
        // But
        // a host that is frozen with all of them thaws when another execution has taken its place.
        boolean rerun = kind == Kind.COMMAND || honoursKey;
        return new AgentPolicy.Care(
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

    /** Makes one, piece by piece. */
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

        public Builder describedAs(String words, Json schema) {
            description = words;
            input = schema;
            return this;
        }

        /** Running it twice is harmless. */
        public Builder safeToRetry() {
            safeToRetry = true;
            return this;
        }

        public Builder timeout(Duration most) {
            timeout = most;
            return this;
        }

        public Builder env(Map<String, String> variables) {
            env = variables;
            return this;
        }

        /** Every call waits for a person to approve it. */
        public Builder approved() {
            approval = true;
            return this;
        }

        /** The same arguments again in the thread replay the first success. */
        public Builder deduplicated() {
            dedupe = true;
            return this;
        }

        /** The program that finds out whether a lost call took effect. */
        public Builder verifiedBy(String... program) {
            verify = List.of(program);
            return this;
        }

        /** The tool is in Java and can find out itself. */
        public Builder verifiesItself() {
            verifies = true;
            return this;
        }

        /** A person settles what nothing else can tell. */
        public Builder askingOnUnknown() {
            askOnUnknown = true;
            return this;
        }

        /** The other side deduplicates by the idempotency key. */
        public Builder honouringKey() {
            honoursKey = true;
            return this;
        }

        /** A check that finds no effect sees to it that there will be none: the other side refuses it from then on. */
        public Builder forbiddingByVerify() {
            verifyForbids = true;
            return this;
        }

        /** What does not fit is an error result. */
        public Builder returning(Json schema) {
            output = Optional.of(schema);
            return this;
        }

        /** Its programs reach this and nothing else. */
        public Builder sandboxed(Sandbox reach) {
            sandbox = Optional.of(reach);
            return this;
        }

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
