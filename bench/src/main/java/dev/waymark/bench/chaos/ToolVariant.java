package dev.waymark.bench.chaos;

import dev.waymark.agent.Endpoint;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;
import dev.waymark.testkit.RecordingTool;
import dev.waymark.testkit.crash.Crash;
import dev.waymark.testkit.crash.CrashPoint;
import dev.waymark.tool.Tool;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * The tools of the runs. They differ in how they are executed and in what they declare. They find the ledger and the
 * gateway through environment variables.
 */
public enum ToolVariant {
    EFFECT(Kind.JAVA, spec -> spec),
    /**
     * The tool can ask the ledger whether a call took effect. It also declares that it honors keys, although the ledger
     * records every execution: a test notices if the call takes effect twice.
     */
    VERIFIED(Kind.JAVA, spec -> spec.verifies().honoursKey()),
    SAFE(Kind.JAVA, ToolSpec.Builder::safeToRetry),
    /** Like {@link #SAFE}, but its calls run in the activity that called the model. */
    FUSED(Kind.JAVA, ToolSpec.Builder::safeToRetry),
    COMMAND(Kind.COMMAND, spec -> spec),
    VERIFIED_COMMAND(Kind.COMMAND, ToolVariant::verified),
    /** A program that is killed by a signal after its effect. */
    DYING(Kind.DYING_COMMAND, spec -> spec),
    VERIFIED_DYING(Kind.DYING_COMMAND, ToolVariant::verified),
    /** A request that takes effect and is answered with 504. */
    FAILING(Kind.FAILING_REQUEST, spec -> spec),
    VERIFIED_FAILING(Kind.FAILING_REQUEST, ToolVariant::verified);

    private enum Kind {
        JAVA,
        COMMAND,
        DYING_COMMAND,
        FAILING_REQUEST
    }

    /** The environment variable with the port of the ledger. */
    public static final String LEDGER_PORT = "LEDGER_PORT";

    /**
     * Much longer than the ledger needs, and shorter than the heartbeat timeout after which a loss is noticed. By then,
     * the deadline of the lost call has passed.
     */
    private static final Duration TIMEOUT = Duration.ofSeconds(8);

    /** How long a fused call takes: longer than the heartbeat that saves the reply needs to be sent and answered. */
    private static final Duration UNTIL_REPLY_IS_SAVED = Duration.ofMillis(300);

    private static final Json INPUT =
            Json.of(Map.of("type", "object", "properties", Map.of("item", Map.of("type", "string"))));

    private static final String ASK_LEDGER = """
            exec 3<>/dev/tcp/127.0.0.1/$LEDGER_PORT
            sleep 0.2
            printf 'effect %s %s %s\\n' "$WAYMARK_IDEMPOTENCY_KEY" "$WAYMARK_CALL_ID" "$WAYMARK_FENCING_TOKEN" >&3
            read -r answer <&3
            sleep 0.2
            """;

    private final Kind kind;
    private final UnaryOperator<ToolSpec.Builder> declared;

    ToolVariant(Kind kind, UnaryOperator<ToolSpec.Builder> declared) {
        this.kind = kind;
        this.declared = declared;
    }

    /**
     * Declares a program that verifies a lost call. The program makes the ledger refuse the lost execution from then
     * on.
     */
    private static ToolSpec.Builder verified(ToolSpec.Builder spec) {
        return spec.verifyForbids().verify("bash", "-c", """
                exec 3<>/dev/tcp/127.0.0.1/$LEDGER_PORT
                printf 'forbid %s %s\\n' "$WAYMARK_IDEMPOTENCY_KEY" "$WAYMARK_FENCING_TOKEN" >&3
                read -r answer <&3
                if [ "$answer" = yes ]; then echo '{"landed":true,"result":"done"}'; else echo '{"landed":false}'; fi
                """);
    }

    boolean isJava() {
        return kind == Kind.JAVA;
    }

    /** Returns whether calls run in the activity that called the model. */
    boolean isFused() {
        return this == FUSED;
    }

    /** Returns whether the outcome is necessarily unknown if the worker is lost between claim and completion. */
    public boolean isUnknownWhenLost() {
        return this == EFFECT || this == COMMAND;
    }

    /** Returns whether the outcome of every call is unknown, even if no worker is lost. */
    boolean isAlwaysUnknown() {
        return this == DYING || this == FAILING;
    }

    /**
     * Returns whether the tool can safely run again while an earlier execution, for example on a frozen host, is not
     * over.
     */
    boolean isFenced() {
        return this != VERIFIED;
    }

    /** Returns the name under which models call the tool. */
    public String tool(boolean approved) {
        return name().toLowerCase(Locale.ROOT) + (approved ? "_approved" : "");
    }

    /** Returns the declaration of the tool for an agent. */
    public ToolSpec spec(boolean approved, Map<String, String> environment) {
        if (isJava()) {
            return recording(approved, environment).spec();
        }
        String name = tool(approved);
        ToolSpec.Builder builder = switch (kind) {
            case JAVA -> throw new AssertionError("answered above");
            case COMMAND -> program(name, "[ \"$answer\" = done ] && echo done");
            case DYING_COMMAND -> program(name, "kill -9 $$");
            case FAILING_REQUEST ->
                ToolSpec.http(
                        name,
                        Endpoint.of(Endpoint.Method.POST, FailingGateway.url(environment))
                                .allowingPrivate());
        };
        builder.describedAs("Has an effect", INPUT)
                .env(Map.of(LEDGER_PORT, environment.get(LEDGER_PORT)))
                .timeout(TIMEOUT);
        return declared.apply(approved ? builder.approval() : builder).build();
    }

    private static ToolSpec.Builder program(String name, String end) {
        return ToolSpec.command(name, "bash", "-c", ASK_LEDGER + end);
    }

    /** Returns the tool for a worker that the crash disrupts, if the tool is in Java. */
    Optional<Tool> tool(boolean approved, Map<String, String> environment, Crash crash) {
        return isJava()
                ? Optional.of(crash.around(recording(approved, environment).inTheMiddle(() -> {
                    crash.pass(CrashPoint.MID_EFFECT);
                    work();
                })))
                : Optional.empty();
    }

    /** Like {@link #tool(boolean, Map, Crash)}, for a worker without faults. */
    public Optional<Tool> tool(boolean approved, Map<String, String> environment) {
        return isJava() ? Optional.of(recording(approved, environment).inTheMiddle(this::work)) : Optional.empty();
    }

    private void work() {
        if (isFused()) {
            try {
                Thread.sleep(UNTIL_REPLY_IS_SAVED.toMillis());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private RecordingTool recording(boolean approved, Map<String, String> environment) {
        return RecordingTool.of(tool(approved), Integer.parseInt(environment.get(LEDGER_PORT)))
                .with(declared)
                .with(spec -> approved ? spec.timeout(TIMEOUT).approval() : spec.timeout(TIMEOUT));
    }
}
