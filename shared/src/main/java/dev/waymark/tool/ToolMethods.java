package dev.waymark.tool;

import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Creates tools from the methods of an object that have {@link ToolMethod}. A proxy that extends the object's class,
 * such as one of Spring's, can be passed too; the methods are then called through the proxy.
 *
 * <pre>{@code
 * List<Tool> tools = ToolMethods.of(new Billing(payments));
 * }</pre>
 */
public final class ToolMethods {
    private ToolMethods() {}

    /** Returns whether this class has a method with {@link ToolMethod}, declared or inherited from a superclass. */
    public static boolean in(Class<?> type) {
        return !declared(type).isEmpty();
    }

    /**
     * Returns one tool for each annotated method, sorted by the names of the methods.
     *
     * @throws IllegalArgumentException if the object has no annotated method, or one that can't be a tool
     */
    public static List<Tool> of(Object object) {
        List<Tool> tools = new ArrayList<>();
        for (Method method : declared(object.getClass())) {
            tools.add(tool(object, method));
        }
        if (tools.isEmpty()) {
            throw new IllegalArgumentException(
                    object.getClass().getName() + " has no method with @ToolMethod, and is not a Tool");
        }
        return List.copyOf(tools);
    }

    private static List<Method> declared(Class<?> type) {
        List<Method> methods = new ArrayList<>();
        for (Class<?> each = type; each != null && each != Object.class; each = each.getSuperclass()) {
            Arrays.stream(each.getDeclaredMethods())
                    .filter(method -> method.isAnnotationPresent(ToolMethod.class))
                    .filter(method -> methods.stream().noneMatch(known -> overrides(known, method)))
                    .forEach(methods::add);
        }
        methods.sort(Comparator.comparing(Method::getName));
        return methods;
    }

    private static boolean overrides(Method one, Method other) {
        return one.getName().equals(other.getName())
                && Arrays.equals(one.getParameterTypes(), other.getParameterTypes());
    }

    private static Tool tool(Object object, Method method) {
        ToolMethod declared = Objects.requireNonNull(method.getAnnotation(ToolMethod.class));
        if (declared.description().isBlank()) {
            throw problem(method, "its description is empty. Tell the model what it does");
        }
        if (declared.timeoutSeconds() < 1) {
            throw problem(method, "timeoutSeconds must be at least 1, found " + declared.timeoutSeconds());
        }
        Optional<Class<? extends Record>> arguments = arguments(method);
        String name = declared.name().isEmpty() ? method.getName() : declared.name();
        ToolSpec.Builder spec = ToolSpec.java(name)
                .describedAs(declared.description(), RecordSchema.of(arguments.orElse(NoArguments.class)))
                .timeout(Duration.ofSeconds(declared.timeoutSeconds()));
        ResultText.problem(method.getGenericReturnType()).ifPresent(why -> {
            throw problem(method, why + ". Return text, a record, or nothing");
        });
        Optional<Method> check = Optional.empty();
        if (declared.safeToRetry()) {
            spec.safeToRetry();
        }
        if (declared.approval()) {
            spec.approval();
        }
        if (declared.untrusted()) {
            spec.untrusted();
        }
        if (declared.dedupe()) {
            spec.dedupe();
        }
        if (declared.honoursKey()) {
            spec.honoursKey();
        }
        if (declared.askOnUnknown()) {
            spec.askOnUnknown();
        }
        if (!declared.verify().isEmpty()) {
            check = Optional.of(check(object.getClass(), declared.verify(), method));
            spec.verifies();
        }
        if (declared.verifyForbids()) {
            spec.verifyForbids();
        }
        method.setAccessible(true);
        return new MethodTool(spec.build(), object, method, arguments, check);
    }

    /** Returns the record type that holds the tool's arguments; empty if the method takes no record. */
    private static Optional<Class<? extends Record>> arguments(Method method) {
        if (Modifier.isStatic(method.getModifiers())) {
            throw problem(method, "it must not be static");
        }
        Optional<Class<? extends Record>> arguments = Optional.empty();
        boolean hasContext = false;
        for (Class<?> type : method.getParameterTypes()) {
            if (type == ToolContext.class && !hasContext) {
                hasContext = true;
            } else if (type.isRecord() && arguments.isEmpty()) {
                arguments = Optional.of(type.asSubclass(Record.class));
            } else {
                throw problem(method, "it takes one record and, if needed, a ToolContext, not " + type.getSimpleName());
            }
        }
        return arguments;
    }

    private static Method check(Class<?> type, String name, Method checked) {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            for (Method method : each.getDeclaredMethods()) {
                if (method.getName().equals(name)
                        && method.getReturnType() == VerifyResult.class
                        && List.of(checked.getParameterTypes()).containsAll(List.of(method.getParameterTypes()))) {
                    method.setAccessible(true);
                    return method;
                }
            }
        }
        throw problem(checked, "there is no method " + name + " with its parameters that returns a VerifyResult");
    }

    private static IllegalArgumentException problem(Method method, String words) {
        return new IllegalArgumentException(
                method.getDeclaringClass().getName() + "." + method.getName() + " can't be a tool: " + words);
    }

    private record NoArguments() {}

    private record MethodTool(
            ToolSpec spec,
            Object object,
            Method method,
            Optional<Class<? extends Record>> arguments,
            Optional<Method> check)
            implements Tool {

        @Override
        public Optional<String> problem(Json args) {
            return ArgumentReader.problem(args, arguments.orElse(NoArguments.class));
        }

        @Override
        public String run(Json args, ToolContext context) throws Exception {
            Object result = call(method, args, context);
            if (method.getReturnType() == void.class) {
                return "done";
            }
            return ResultText.of(spec.name(), result);
        }

        @Override
        public VerifyResult verify(Json args, ToolContext context) throws Exception {
            return check.isEmpty()
                    ? VerifyResult.unknown()
                    : (VerifyResult) Objects.requireNonNull(
                            call(check.get(), args, context), "verify returned null instead of a VerifyResult");
        }

        private @Nullable Object call(Method called, Json args, ToolContext context) throws Exception {
            List<Object> values = new ArrayList<>();
            for (Class<?> type : called.getParameterTypes()) {
                values.add(type == ToolContext.class ? context : ArgumentReader.read(args, type));
            }
            try {
                return called.invoke(object, values.toArray());
            } catch (InvocationTargetException e) {
                if (e.getCause() instanceof Exception thrown) {
                    throw thrown;
                }
                if (e.getCause() instanceof Error thrown) {
                    throw thrown;
                }
                throw e;
            }
        }
    }
}
