package dev.waymark.extension;

import dev.waymark.model.ModelProvider;
import dev.waymark.tool.Tool;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;

/**
 * Adds the tools and model providers of a separate jar to workers that were built without them. A worker finds the
 * extension by {@link ServiceLoader}: the jar names the class in
 * {@code META-INF/services/dev.waymark.extension.WorkerExtension}, and {@code ./waymark worker --classpath lib/} adds
 * the jars of a directory to its class path. Agent files then use the tools with {@code use: NAME}, and the providers
 * with {@code model: NAME:MODEL}.
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
     * The tools that this extension adds.
     *
     * @param environment the worker's environment variables, which may differ from the process's
     */
    default List<Tool> tools(Map<String, String> environment) {
        return List.of();
    }

    /**
     * The model providers that this extension adds, by the name before the colon in {@code model:}.
     *
     * @param environment the worker's environment variables, which may differ from the process's
     */
    default Map<String, ModelProvider> providers(Map<String, String> environment) {
        return Map.of();
    }
}
