package dev.waymark.springai;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.ResultText;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolContext;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.ai.tool.execution.ToolExecutionException;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.ai.tool.method.MethodToolCallback;

/**
 * Converts tool callbacks of Spring AI to tools of Waymark, with claims, approvals and idempotency keys. A tool counts
 * as having side effects unless it is declared otherwise, because a callback does not declare its side effects. Spring
 * AI creates callbacks from annotated methods, from functions and from the tools of MCP servers.
 *
 * <p>A callback finds the call's idempotency key in its tool context as {@code idempotencyKey}, and the id of the
 * thread as {@code thread}.
 *
 * <pre>{@code
 * Agent clerk = Agent.named("clerk")
 *         .model("spring-ai:gpt")
 *         .tools(SpringAiTools.of(ToolCallbacks.from(new Bookings()), tool -> tool.approval()))
 *         .build();
 * }</pre>
 */
public final class SpringAiTools {
    private SpringAiTools() {}

    /** Converts these callbacks to tools, which are declared to have side effects. */
    public static List<Tool> of(ToolCallback... callbacks) {
        return of(List.of(callbacks));
    }

    /** Converts these callbacks to tools, which are declared to have side effects. */
    public static List<Tool> of(List<? extends ToolCallback> callbacks) {
        return of(callbacks, tool -> tool);
    }

    /** Converts what {@code ToolCallbacks.from} returns, and applies {@code declaration} to each specification. */
    public static List<Tool> of(ToolCallback[] callbacks, UnaryOperator<ToolSpec.Builder> declaration) {
        return of(List.of(callbacks), declaration);
    }

    /**
     * Converts these callbacks to tools, and applies {@code declaration} to the specification of each tool.
     *
     * @throws IllegalArgumentException if the input schema of a callback is not JSON
     */
    public static List<Tool> of(List<? extends ToolCallback> callbacks, UnaryOperator<ToolSpec.Builder> declaration) {
        return callbacks.stream()
                .<Tool>map(callback -> new CallbackTool(
                        declaration.apply(spec(callback.getToolDefinition())).build(), callback))
                .toList();
    }

    private static ToolSpec.Builder spec(ToolDefinition definition) {
        try {
            Json schema = PayloadJson.MAPPER.readValue(definition.inputSchema(), Json.class);
            return ToolSpec.java(definition.name()).describedAs(definition.description(), schema);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(
                    "the schema of the tool " + definition.name() + " is not JSON: " + e.getOriginalMessage(), e);
        }
    }

    /** The part of Spring AI that converts the results of tools. */
    private static final String RESULT_CONVERTER =
            "org.springframework.ai.tool.execution.DefaultToolCallResultConverter";

    /** For a value that contains itself, the stack trace may be too long to show any other class. */
    private static final String SERIALIZERS = "tools.jackson.databind.ser.";

    /**
     * Whether the tool has run, and only its result could not be converted. Callbacks wrap all exceptions of their
     * methods and functions.
     */
    private static boolean isAboutResult(RuntimeException e, ToolCallback callback) {
        boolean wraps = callback instanceof MethodToolCallback || callback instanceof FunctionToolCallback;
        return Stream.of(e.getStackTrace())
                .map(StackTraceElement::getClassName)
                .anyMatch(name -> name.equals(RESULT_CONVERTER) || (wraps && name.startsWith(SERIALIZERS)));
    }

    private record CallbackTool(ToolSpec spec, ToolCallback callback) implements Tool {
        @Override
        public String run(Json args, ToolContext context) throws Exception {
            Map<String, Object> known = Map.of("idempotencyKey", context.idempotencyKey(), "thread", context.thread());
            try {
                String result = callback.call(
                        PayloadJson.MAPPER.writeValueAsString(args),
                        new org.springframework.ai.chat.model.ToolContext(known));
                return result == null ? "" : result;
            } catch (ToolExecutionException e) {
                if (e.getCause() instanceof Exception thrown) {
                    throw thrown;
                }
                throw e;
            } catch (RuntimeException e) {
                if (isAboutResult(e, callback)) {
                    return ResultText.unwritable(spec.name(), e);
                }
                throw e;
            }
        }
    }
}
