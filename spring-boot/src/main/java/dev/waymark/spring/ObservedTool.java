package dev.waymark.spring;

import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolContext;
import dev.waymark.tool.VerifyResult;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.transport.Kind;
import io.micrometer.observation.transport.ReceiverContext;
import java.util.Optional;

/**
 * A tool whose executions and checks are observed: as a timer {@code waymark.tool} and, if the application has a
 * tracer, as a span within the span of the call. Requests that the tool makes then belong to the trace of the thread.
 */
record ObservedTool(Tool tool, ObservationRegistry registry) implements Tool {
    private static final String TRACEPARENT = "traceparent";

    @Override
    public ToolSpec spec() {
        return tool.spec();
    }

    @Override
    public Optional<String> problem(Json args) {
        return tool.problem(args);
    }

    @Override
    public String run(Json args, ToolContext context) throws Exception {
        return observation("run", context).observeChecked(() -> tool.run(args, context));
    }

    @Override
    public VerifyResult verify(Json args, ToolContext context) throws Exception {
        return observation("verify", context).observeChecked(() -> tool.verify(args, context));
    }

    private Observation observation(String purpose, ToolContext context) {
        return Observation.createNotStarted("waymark.tool", () -> received(context), registry)
                .contextualName(purpose + " " + context.tool())
                .lowCardinalityKeyValue(KeyValue.of("tool", context.tool()))
                .lowCardinalityKeyValue(KeyValue.of("purpose", purpose))
                .highCardinalityKeyValue(KeyValue.of("waymark.thread", context.thread()))
                .highCardinalityKeyValue(KeyValue.of("waymark.call", context.callId()));
    }

    private static Observation.Context received(ToolContext context) {
        ReceiverContext<ToolContext> received = new ReceiverContext<>(
                (call, key) -> key.equals(TRACEPARENT) ? call.traceparent().orElse(null) : null, Kind.CONSUMER);
        received.setCarrier(context);
        return received;
    }
}
