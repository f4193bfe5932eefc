package dev.waymark.testkit;

import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolContext;
import dev.waymark.tool.VerifyResult;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * A tool that records every run as an effect in an {@link EffectLedger}. The argument {@code item} distinguishes calls.
 *
 * <pre>{@code
 * RecordingTool charge = RecordingTool.of("charge", ledger.port())
 *         .with(spec -> spec.verifies().honoursKey())
 *         .inTheMiddle(() -> crash.pass(CrashPoint.MID_EFFECT));
 * }</pre>
 */
public final class RecordingTool implements Tool {
    private static final Json INPUT =
            Json.of(Map.of("type", "object", "properties", Map.of("item", Map.of("type", "string"))));

    private final ToolSpec spec;
    private final int ledgerPort;
    private final Runnable middle;

    private RecordingTool(ToolSpec spec, int ledgerPort, Runnable middle) {
        this.spec = spec;
        this.ledgerPort = ledgerPort;
        this.middle = middle;
    }

    /** Returns a tool with side effects. {@code ledgerPort} is the {@link EffectLedger#port} of its ledger. */
    public static RecordingTool of(String name, int ledgerPort) {
        ToolSpec spec = ToolSpec.java(name).describedAs("Has an effect", INPUT).build();
        return new RecordingTool(spec, ledgerPort, () -> {});
    }

    /** Returns this tool with a changed declaration. */
    public RecordingTool with(UnaryOperator<ToolSpec.Builder> change) {
        return new RecordingTool(change.apply(spec.with()).build(), ledgerPort, middle);
    }

    /** Returns this tool with an action, which it runs between its request to the ledger and the answer. */
    public RecordingTool inTheMiddle(Runnable action) {
        return new RecordingTool(spec, ledgerPort, action);
    }

    @Override
    public ToolSpec spec() {
        return spec;
    }

    @Override
    public String run(Json args, ToolContext context) throws IOException {
        return ask("effect " + context.idempotencyKey() + " " + context.callId(), middle);
    }

    @Override
    public VerifyResult verify(Json args, ToolContext context) throws IOException {
        String answer = ask("landed " + context.idempotencyKey(), () -> {});
        return answer.equals("yes") ? VerifyResult.landed("done") : VerifyResult.notLanded();
    }

    private String ask(String line, Runnable meanwhile) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), ledgerPort)) {
            socket.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
            meanwhile.run();
            return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))
                    .readLine();
        }
    }
}
