package dev.waymark.agent;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonValue;
import dev.waymark.conversation.value.Json;
import java.time.Duration;
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
 *         .verify("./charge-verify.sh")
 *         .approval()
 *         .build();
 * }</pre>
 *
 * @param output the JSON Schema of results
 * @param approval whether a person must approve every call, or every call that the rules do not decide
 * @param rules the rules that decide which calls need approval; the first one that holds decides
 * @param judged whether a {@code CallJudge} of the worker decides about the calls that no rule decides
 * @param untrusted whether its results may have words of strangers, which rules can ask about
 */
public record ToolSpec(
        String name,
        String description,
        Json input,
        Optional<Json> output,
        Duration timeout,
        boolean approval,
        ToolImplementation implementation,
        SideEffects effects,
        List<ApprovalRule> rules,
        boolean judged,
        boolean untrusted) {
    /** The timeout of tools that do not set one. */
    public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(60);

    /** The schema of arguments that may be any object. */
    static final Json ANY_OBJECT = Json.of(Map.of("type", "object"));

    /** What executes a tool. The names are stored in histories. */
    public enum Kind {
        /** A person answers. */
        @JsonProperty("question")
        QUESTION,
        /** A Java object that the worker was built with. */
        @JsonProperty("java")
        JAVA,
        /** A program that the worker starts. */
        @JsonProperty("command")
        COMMAND,
        /** An MCP server. */
        @JsonProperty("mcp")
        MCP,
        /** An HTTP request that the worker sends. */
        @JsonProperty("http")
        HTTP,
        /** The rules of the conversation. Such a tool changes only the thread's own state. */
        @JsonProperty("state")
        STATE,
        /** The agent with the tool's name, in a thread of its own. */
        @JsonProperty("subagent")
        SUBAGENT,
        /** A front end, such as a browser, which answers with the result. */
        @JsonProperty("front-end")
        FRONT_END,
        /** The worker, which reads a file of a skill. */
        @JsonProperty("skill")
        SKILL,
        /** The worker, which finds a deferred tool. */
        @JsonProperty("find")
        FIND
    }

    public ToolSpec {
        Objects.requireNonNull(name, "name");
        rules = List.copyOf(rules);
        approval = approval || judged || !rules.isEmpty();
    }

    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    static ToolSpec of(StoredTool stored) {
        return stored.tool();
    }

    @JsonValue
    StoredTool stored() {
        return StoredTool.of(this);
    }

    /** Builds a tool that runs a program. By default, it has side effects. */
    public static Builder command(String name, String... program) {
        return new Builder(name, new ToolImplementation.Command(List.of(program), Map.of(), Optional.empty()));
    }

    /** Builds a tool that sends an HTTP request. By default, it has side effects. */
    public static Builder http(String name, Endpoint endpoint) {
        return new Builder(name, new ToolImplementation.Http(endpoint, Map.of(), Optional.empty()));
    }

    /** Builds a tool in Java. By default, it has side effects. */
    public static Builder java(String name) {
        return new Builder(name, ToolImplementation.Plain.JAVA);
    }

    /**
     * Builds a tool of an MCP server. By default, it has side effects.
     *
     * @param name the name that models see
     */
    public static Builder mcp(String name, McpServer server, String tool) {
        return new Builder(name, new McpTool(server, tool));
    }

    /**
     * Builds a tool that a front end runs, such as a page in a browser. A call waits, like a question, until the front
     * end answers it with the result. Nothing is claimed: a front end may run a call twice, for example after a reload.
     */
    public static Builder frontEnd(String name) {
        return new Builder(name, ToolImplementation.Plain.FRONT_END).safeToRetry();
    }

    /** A tool that runs in no activity: its calls ask a person, change the thread's own state, or start a subagent. */
    static ToolSpec builtIn(String name, ToolImplementation implementation, String description, Json input) {
        return new Builder(name, implementation)
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
        return builtIn(agent, ToolImplementation.Plain.SUBAGENT, description, Json.of(schema));
    }

    /** A builder with the values of this tool. */
    public Builder with() {
        return new Builder(this);
    }

    /** What executes the tool. */
    public Kind kind() {
        return implementation.kind();
    }

    /** Whether rules or a judge decide which calls need approval. */
    public boolean isRuled() {
        return judged || !rules.isEmpty();
    }

    /** Whether a call must be granted a claim before it runs. */
    public boolean hasEffect() {
        return !effects.safeToRetry();
    }

    /** Builds a {@link ToolSpec}. */
    public static final class Builder {
        private final String name;
        private ToolImplementation implementation;
        private String description = "";
        private Json input = ANY_OBJECT;
        private Optional<Json> output = Optional.empty();
        private Duration timeout = DEFAULT_TIMEOUT;
        private boolean approval;
        private boolean safeToRetry;
        private boolean dedupe;
        private List<String> verify = List.of();
        private boolean verifies;
        private boolean askOnUnknown;
        private boolean honoursKey;
        private boolean verifyForbids;
        private List<ApprovalRule> rules = List.of();
        private boolean judged;
        private boolean untrusted;

        private Builder(String name, ToolImplementation implementation) {
            this.name = name;
            this.implementation = implementation;
        }

        private Builder(ToolSpec spec) {
            this(spec.name, spec.implementation);
            description = spec.description;
            input = spec.input;
            output = spec.output;
            timeout = spec.timeout;
            approval = spec.approval;
            safeToRetry = spec.effects.safeToRetry();
            dedupe = spec.effects.dedupe();
            verify = spec.effects.verify();
            verifies = spec.effects.verifies();
            askOnUnknown = spec.effects.askOnUnknown();
            honoursKey = spec.effects.honoursKey();
            verifyForbids = spec.effects.verifyForbids();
            rules = spec.rules;
            judged = spec.judged;
            untrusted = spec.untrusted;
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
            implementation = implementation.withPrograms(variables, implementation.sandbox());
            return this;
        }

        /** Every call needs approval by a person. */
        public Builder approval() {
            approval = true;
            return this;
        }

        /**
         * The rules that decide which calls need approval. The first rule whose conditions hold decides; a call that no
         * rule decides needs approval.
         */
        public Builder rules(List<ApprovalRule> list) {
            rules = List.copyOf(list);
            return this;
        }

        /** A {@code CallJudge} of the worker decides about the calls that no rule decides. */
        public Builder judged() {
            judged = true;
            return this;
        }

        /**
         * Declares that results may have words of strangers, such as a web page or a mail. Rules can ask about calls
         * that the model makes after it has read them: {@link ApprovalRule#whenUntrusted}.
         */
        public Builder untrusted() {
            untrusted = true;
            return this;
        }

        /** A repeated call with the same arguments returns the result of the thread's first success. */
        public Builder dedupe() {
            dedupe = true;
            return this;
        }

        /** The program that checks whether a lost call took effect. */
        public Builder verify(String... program) {
            verify = List.of(program);
            return this;
        }

        /** The Java tool can check whether a lost call took effect. */
        public Builder verifies() {
            verifies = true;
            return this;
        }

        /** A person settles calls whose outcome stays unknown. */
        public Builder askOnUnknown() {
            askOnUnknown = true;
            return this;
        }

        /** The called system deduplicates requests by the idempotency key. */
        public Builder honoursKey() {
            honoursKey = true;
            return this;
        }

        /** A check that finds no effect makes the called system refuse the lost call from then on. */
        public Builder verifyForbids() {
            verifyForbids = true;
            return this;
        }

        /** The schema of results; a result that does not match is an error. */
        public Builder output(Json schema) {
            output = Optional.of(schema);
            return this;
        }

        /** Limits what the tool's programs can reach. */
        public Builder sandbox(Sandbox reach) {
            implementation = implementation.withPrograms(implementation.env(), Optional.of(reach));
            return this;
        }

        /**
         * Returns the tool with the values set so far.
         *
         * @throws IllegalArgumentException if the name is malformed, the timeout is not longer than zero, or the
         *     settings for side effects contradict each other
         */
        public ToolSpec build() {
            ToolNames.problem(name).ifPresent(why -> {
                throw new IllegalArgumentException("tool: " + why);
            });
            if (timeout.isZero() || timeout.isNegative()) {
                throw new IllegalArgumentException(
                        "tool " + name + ": the timeout must be longer than 0, found " + timeout.toSeconds() + "s");
            }
            SideEffects effects =
                    new SideEffects(safeToRetry, dedupe, verify, verifies, askOnUnknown, honoursKey, verifyForbids);
            effects.problem().ifPresent(why -> {
                throw new IllegalArgumentException("tool " + name + ": " + why);
            });
            return new ToolSpec(
                    name,
                    description,
                    input,
                    output,
                    timeout,
                    approval,
                    implementation,
                    effects,
                    rules,
                    judged,
                    untrusted);
        }
    }
}
