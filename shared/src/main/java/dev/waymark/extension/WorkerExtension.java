package dev.waymark.extension;

import dev.waymark.model.ModelProvider;
import dev.waymark.tool.Tool;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;

/**
 * Tools and model providers in a jar of its own, for workers that were built without them. A worker finds it by {@link
 * ServiceLoader}: the jar names the class in {@code META-INF/services/dev.waymark.extension.WorkerExtension}, and {@code
 * ./waymark worker --classpath lib/} has the jars of a directory on its class path. Agent files then use the tools by
 * {@code use: NAME}, and the providers by {@code model: NAME:MODEL}.
 *
 * <pre>{@code
 * public final class Payments implements WorkerExtension {
 *     @Override
 *     public List<Tool> tools(Map<String, String> environment) {
 *         return ToolMethods.of(new Billing(environment.get("PAYMENTS_URL")));
 *     }
 * }
 * }</pre>
 */
public interface WorkerExtension {

    /**
     * Its tools.
     *
     * @param environment the variables of the worker, which may not be those of the process
     */
    default List<Tool> tools(Map<String, String> environment) {
        return List.of();
    }

    /**
     * Its model providers, by the name before the colon in {@code model:}.
     *
     * @param environment the variables of the worker, which may not be those of the process
     */
    default Map<String, ModelProvider> providers(Map<String, String> environment) {
        return Map.of();
    }
}
