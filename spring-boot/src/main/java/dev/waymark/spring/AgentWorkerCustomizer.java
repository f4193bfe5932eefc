package dev.waymark.spring;

import dev.waymark.worker.AgentWorker;

/**
 * Changes the worker of the application before it is built. All beans of this type are called, in Spring's order.
 *
 * <pre>{@code
 * @Bean
 * AgentWorkerCustomizer fewerPollers() {
 *     return worker -> worker.workerOptions(options -> options.setMaxConcurrentActivityTaskPollers(2));
 * }
 * }</pre>
 */
@FunctionalInterface
public interface AgentWorkerCustomizer {

    /** Changes the builder, which already has the agents, tools and providers of the application. */
    void customize(AgentWorker.Builder worker);
}
