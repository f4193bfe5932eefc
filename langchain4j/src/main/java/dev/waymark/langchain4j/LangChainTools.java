package dev.waymark.langchain4j;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.langchain4j.agent.tool.P;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolMemoryId;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.agent.tool.ToolSpecifications;
import dev.langchain4j.exception.ToolArgumentsException;
import dev.langchain4j.exception.ToolExecutionException;
import dev.langchain4j.internal.JsonSchemaElementUtils;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.adapter.PlainTranscript;
import dev.waymark.tool.ResultText;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolContext;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Tools of LangChain4j as tools of Waymark, with claims, approvals and idempotency keys: {@code @Tool} methods, and
 * tools that are listed by their specifications, such as those of an MCP client. They count as having side effects
 * unless they are declared otherwise, because LangChain4j does not declare side effects.
 *
 * <pre>{@code
 * Agent clerk = Agent.named("clerk")
 *         .model("langchain4j:gemini")
 *         .tools(LangChainTools.of(new Bookings(), tool -> tool.approval()).toArray())
 *         .build();
 * }</pre>
 */
public final class LangChainTools {

    private LangChainTools() {}

    /**
     * Executes the calls of tools that are listed by their specifications.
     *
     * <p>{@link ToolExecutionException} and {@link ToolArgumentsException} with a message report that the tool has
     * failed; the model sees an error. After any other exception, it is unknown whether the tool took effect.
     */
    @FunctionalInterface
    public interface RequestExecutor {
        /** Executes a call, and returns the result for the model. */
        String execute(ToolExecutionRequest request) throws Exception;
    }

    /** The tools of an object, declared to have side effects. */
    public static List<Tool> of(Object owner) {
        return of(owner, tool -> tool);
    }

    /**
     * The tools of an object, each with this declaration.
     *
     * @throws IllegalArgumentException if the object has no tools, or if a tool needs a feature that only LangChain4j's
     * own services provide
     */
    public static List<Tool> of(Object owner, UnaryOperator<ToolSpec.Builder> declaration) {
        List<Tool> tools = new ArrayList<>();
        for (Method method : owner.getClass().getDeclaredMethods()) {
            if (method.isAnnotationPresent(dev.langchain4j.agent.tool.Tool.class)) {
                tools.add(tool(owner, method, declaration));
            }
        }
        if (tools.isEmpty()) {
            throw new IllegalArgumentException(owner.getClass().getName() + " has no method with LangChain4j's @Tool");
        }
        tools.sort((one, other) -> one.spec().name().compareTo(other.spec().name()));
        return List.copyOf(tools);
    }

    /**
     * Tools that something else executes, declared to have side effects. Those of an MCP client of LangChain4j, built
     * with {@code toolExecutionTimeout(Duration.ZERO)} so that only Waymark's time limit applies:
     *
     * <pre>{@code
     * LangChainTools.ofSpecifications(
     *         client.listTools(), request -> client.executeTool(request).resultText())
     * }</pre>
     */
    public static List<Tool> ofSpecifications(List<ToolSpecification> specifications, RequestExecutor executor) {
        return ofSpecifications(specifications, executor, tool -> tool);
    }

    /**
     * Tools that something else executes, each with this declaration. A name that models cannot use is changed for
     * them, but not for the executor.
     */
    public static List<Tool> ofSpecifications(
            List<ToolSpecification> specifications,
            RequestExecutor executor,
            UnaryOperator<ToolSpec.Builder> declaration) {
        return specifications.stream()
                .<Tool>map(listed -> {
                    String name = PlainTranscript.acceptedName(listed.name());
                    ToolSpec spec = declaration.apply(spec(name, listed)).build();
                    return new SpecifiedTool(spec, listed.name(), executor);
                })
                .toList();
    }

    private static ToolSpec.Builder spec(String name, ToolSpecification specification) {
        JsonObjectSchema parameters = specification.parameters();
        Json schema = parameters == null
                ? Json.of(Map.of("type", "object"))
                : Json.of(JsonSchemaElementUtils.toMap(parameters));
        String description = specification.description() == null ? "" : specification.description();
        return ToolSpec.java(name).describedAs(description, schema);
    }

    private static Tool tool(Object owner, Method method, UnaryOperator<ToolSpec.Builder> declaration) {
        for (Parameter parameter : method.getParameters()) {
            if (parameter.isAnnotationPresent(ToolMemoryId.class)) {
                throw new IllegalArgumentException(
                        method + " takes a memory id. Use the thread of Waymark's ToolContext instead");
            }
        }
        ResultText.problem(method.getGenericReturnType()).ifPresent(why -> {
            throw new IllegalArgumentException(method + " can't be a tool: " + why);
        });
        method.setAccessible(true);
        ToolSpecification specification = ToolSpecifications.toolSpecificationFrom(method);
        ToolSpec open = spec(specification.name(), specification).build();
        // Arguments for another build's method must not be ignored.
        Json closed = open.input().overlaidBy(Optional.of(Json.of(Map.of("additionalProperties", false))));
        return new AnnotatedMethod(
                declaration
                        .apply(open.with().describedAs(open.description(), closed))
                        .build(),
                owner,
                method);
    }

    private record AnnotatedMethod(ToolSpec spec, Object owner, Method method) implements Tool {
        /** Reports unknown arguments by name, and does not read a missing number as zero. */
        private static final JsonMapper MAPPER = PayloadJson.MAPPER
                .rebuild()
                .enable(
                        DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES,
                        DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
                .build();

        @Override
        public Optional<String> problem(Json args) {
            for (Parameter parameter : method.getParameters()) {
                try {
                    value(parameter, args);
                } catch (IllegalArgumentException e) {
                    return Optional.of("/" + parameter.getName() + ": missing, or not a valid value");
                }
            }
            return Optional.empty();
        }

        @Override
        public String run(Json args, ToolContext context) throws Exception {
            Object[] values = Arrays.stream(method.getParameters())
                    .map(parameter -> value(parameter, args))
                    .toArray();
            try {
                Object result = method.invoke(owner, values);
                if (method.getReturnType() == void.class) {
                    return "Success"; // The text that LangChain4j uses.
                }
                return ResultText.of(spec.name(), result);
            } catch (InvocationTargetException e) {
                if (e.getCause() instanceof Exception thrown) {
                    throw thrown;
                }
                throw e;
            }
        }

        private static @Nullable Object value(Parameter parameter, Json args) {
            P named = parameter.getAnnotation(P.class);
            Object given = args.field(parameter.getName());
            if (given == null && named != null && !named.required()) {
                return null;
            }
            return MAPPER.convertValue(given, MAPPER.getTypeFactory().constructType(parameter.getParameterizedType()));
        }
    }
}
