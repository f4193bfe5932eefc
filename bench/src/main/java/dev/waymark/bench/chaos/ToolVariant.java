package dev.waymark.bench.chaos;

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

/** The declaration and kind of a tool. */
public enum ToolVariant {
    EFFECT(false, spec -> spec),
    /** The tool can ask the ledger for an effect. Its claim to honor keys is false, which a test would notice. */
    VERIFIED(false, spec -> spec.verifiesItself().honouringKey()),
    SAFE(false, ToolSpec.Builder::safeToRetry),
    COMMAND(true, spec -> spec),
    /** Its verify program makes the ledger refuse the lost execution from then on. */
    VERIFIED_COMMAND(true, spec -> spec.forbiddingByVerify().verifiedBy("bash", "-c", """
            exec 3<>/dev/tcp/127.0.0.1/$LEDGER_PORT
            printf 'forbid %s %s\\n' "$WAYMARK_IDEMPOTENCY_KEY" "$WAYMARK_FENCING_TOKEN" >&3
            read -r answer <&3
            if [ "$answer" = yes ]; then echo '{"landed":true,"result":"done"}'; else echo '{"landed":false}'; fi
            """));

    /** Much longer than the ledger needs; the fence of a lost call has passed when the loss is noticed. */
    private static final Duration TIMEOUT = Duration.ofSeconds(8);

    private static final String[] ASK_LEDGER = {"bash", "-c", """
            exec 3<>/dev/tcp/127.0.0.1/$LEDGER_PORT
            sleep 0.2
            printf 'effect %s %s %s\\n' "$WAYMARK_IDEMPOTENCY_KEY" "$WAYMARK_CALL_ID" "$WAYMARK_FENCING_TOKEN" >&3
            read -r answer <&3
            sleep 0.2
            [ "$answer" = done ] && echo "$answer"
            """};

    private final boolean command;
    private final UnaryOperator<ToolSpec.Builder> declared;

    ToolVariant(boolean command, UnaryOperator<ToolSpec.Builder> declared) {
        this.command = command;
        this.declared = declared;
    }

    boolean isCommand() {
        return command;
    }

    /** Whether the outcome is necessarily unknown if the worker is lost between claim and completion. */
    public boolean isUnknownWhenLost() {
        return this == EFFECT || this == COMMAND;
    }

    String tool(boolean approved) {
        return name().toLowerCase(Locale.ROOT) + (approved ? "_approved" : "");
    }

    ToolSpec spec(boolean approved, int ledgerPort) {
        if (!command) {
            return recording(approved, ledgerPort).spec();
        }
        Json input = Json.of(Map.of("type", "object", "properties", Map.of("item", Map.of("type", "string"))));
        ToolSpec.Builder builder = ToolSpec.command(tool(approved), ASK_LEDGER)
                .describedAs("Has an effect", input)
                .env(Map.of("LEDGER_PORT", Integer.toString(ledgerPort)))
                .timeout(TIMEOUT);
        return declared.apply(approved ? builder.approved() : builder).build();
    }

    /** The tool for the worker, if it is in Java. */
    Optional<Tool> tool(boolean approved, int ledgerPort, Crash crash) {
        return command
                ? Optional.empty()
                : Optional.of(crash.around(
                        recording(approved, ledgerPort).inTheMiddle(() -> crash.pass(CrashPoint.MID_EFFECT))));
    }

    /** Like {@link #tool(boolean, int, Crash)}, for a worker that is not killed. */
    Optional<Tool> tool(boolean approved, int ledgerPort) {
        return command ? Optional.empty() : Optional.of(recording(approved, ledgerPort));
    }

    private RecordingTool recording(boolean approved, int ledgerPort) {
        return RecordingTool.of(tool(approved), ledgerPort)
                .with(declared)
                .with(spec -> approved ? spec.timeout(TIMEOUT).approved() : spec.timeout(TIMEOUT));
    }
}
