package dev.waymark.agent;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.conversation.value.Json;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A tool as histories contain it: one flat object, independent of the classes in the code. Fields are only ever added,
 * at the end.
 */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
record StoredTool(
        String name,
        @Nullable String description,
        @Nullable Json input,
        ToolSpec.Kind kind,
        boolean safeToRetry,
        @Nullable Duration timeout,
        @Nullable List<String> command,
        @Nullable Map<String, String> env,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean approval,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean dedupe,

        @Nullable List<String> verify,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean verifies,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean askOnUnknown,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean honoursKey,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean verifyForbids,

        Optional<Json> output,
        Optional<Endpoint> http,
        Optional<McpTool> mcp,
        Optional<Sandbox> sandbox,
        @Nullable List<ApprovalRule> rules,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean judged,

        Optional<Skills> skills,
        Optional<DeferredTools> deferred,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean untrusted) {
    StoredTool {
        Objects.requireNonNull(kind, "kind");
    }

    static StoredTool of(ToolSpec tool) {
        ToolImplementation implementation = tool.implementation();
        SideEffects effects = tool.effects();
        return new StoredTool(
                tool.name(),
                tool.description(),
                tool.input(),
                tool.kind(),
                effects.safeToRetry(),
                tool.timeout(),
                as(ToolImplementation.Command.class, implementation)
                        .map(ToolImplementation.Command::program)
                        .orElse(List.of()),
                implementation.env(),
                tool.approval(),
                effects.dedupe(),
                effects.verify(),
                effects.verifies(),
                effects.askOnUnknown(),
                effects.honoursKey(),
                effects.verifyForbids(),
                tool.output(),
                as(ToolImplementation.Http.class, implementation).map(ToolImplementation.Http::endpoint),
                as(McpTool.class, implementation),
                implementation.sandbox(),
                tool.rules(),
                tool.judged(),
                as(Skills.class, implementation),
                as(DeferredTools.class, implementation).filter(tools -> tools.count() > 0),
                tool.untrusted());
    }

    private static <T> Optional<T> as(Class<T> type, ToolImplementation implementation) {
        return type.isInstance(implementation) ? Optional.of(type.cast(implementation)) : Optional.empty();
    }

    ToolSpec tool() {
        return new ToolSpec(
                name,
                orElse(description, ""),
                orElse(input, ToolSpec.ANY_OBJECT),
                output,
                orElse(timeout, ToolSpec.DEFAULT_TIMEOUT),
                approval,
                implementation(),
                new SideEffects(
                        safeToRetry,
                        dedupe,
                        orElse(verify, List.of()),
                        verifies,
                        askOnUnknown,
                        honoursKey,
                        verifyForbids),
                orElse(rules, List.of()),
                judged,
                untrusted);
    }

    private ToolImplementation implementation() {
        Map<String, String> variables = orElse(env, Map.of());
        return switch (kind) {
            case COMMAND -> new ToolImplementation.Command(orElse(command, List.of()), variables, sandbox);
            case HTTP -> new ToolImplementation.Http(required(http), variables, sandbox);
            case MCP -> required(mcp);
            case JAVA -> ToolImplementation.Plain.JAVA;
            case QUESTION -> ToolImplementation.Plain.QUESTION;
            case STATE -> ToolImplementation.Plain.STATE;
            case SUBAGENT -> ToolImplementation.Plain.SUBAGENT;
            case FRONT_END -> ToolImplementation.Plain.FRONT_END;
            case SKILL -> required(skills);
            case FIND -> deferred == null ? DeferredTools.NONE : deferred.orElse(DeferredTools.NONE);
        };
    }

    private <T> T required(Optional<T> part) {
        return part.orElseThrow(() ->
                new IllegalArgumentException("tool " + name + " of kind " + kind + " does not say what it calls"));
    }

    private static <T> T orElse(@Nullable T value, T absent) {
        return value == null ? absent : value;
    }
}
