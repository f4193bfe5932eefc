package dev.waymark.spring;

import dev.waymark.codec.KeyProblem;
import dev.waymark.connect.Connection;
import dev.waymark.connect.ConnectionException;
import dev.waymark.connect.ProcessEnvironment;
import io.temporal.client.WorkflowClient;
import io.temporal.serviceclient.WorkflowServiceStubs;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The configurations that provide the connection. Only one of them creates it: the second one also applies to stubs that
 * the first one has created, but creates no connection if there already is one.
 */
final class ConnectionConfigurations {
    private ConnectionConfigurations() {}

    /** Applies if the application has no stubs. Connection and stubs are created from the settings. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingBean(WorkflowServiceStubs.class)
    static class OwnStubs {

        @Bean
        @ConditionalOnMissingBean
        Connection waymarkConnection(WaymarkProperties properties, SdkMetrics metrics) {
            return connect(variables -> Connection.of(variables, metrics.scope()), properties);
        }

        /** Spring must not close the stubs, because the connection closes them. */
        @Bean(destroyMethod = "")
        WorkflowServiceStubs waymarkServiceStubs(Connection connection) {
            return connection.stubs();
        }

        @Bean
        @ConditionalOnMissingBean
        WorkflowClient waymarkWorkflowClient(Connection connection) {
            return connection.client();
        }
    }

    /** Applies if the application, or Temporal's own starter, has stubs. The connection does not close these. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnSingleCandidate(WorkflowServiceStubs.class)
    static class SharedStubs {

        @Bean
        @ConditionalOnMissingBean
        Connection waymarkSharedConnection(
                WaymarkProperties properties, WorkflowServiceStubs stubs, ObjectProvider<WorkflowClient> clients) {
            return connect(
                    variables -> Connection.over(stubs, namespace(properties, clients, variables), variables),
                    properties);
        }

        private static String namespace(
                WaymarkProperties properties, ObjectProvider<WorkflowClient> clients, Map<String, String> variables) {
            return Optional.ofNullable(properties.namespace())
                    .or(() -> Optional.ofNullable(clients.getIfUnique())
                            .map(client -> client.getOptions().getNamespace()))
                    .orElseGet(() -> variables.getOrDefault("TEMPORAL_NAMESPACE", "default"));
        }
    }

    /** Makes a connection from settings. */
    private static Connection connect(
            Function<Map<String, String>, Connection> connecting, WaymarkProperties properties) {
        try {
            return connecting.apply(properties.over(ProcessEnvironment.get()));
        } catch (ConnectionException e) {
            throw new WaymarkStartException(
                    "Waymark: " + e.getMessage(),
                    e.advice()
                            .map(advice -> advice + ". In Spring, these are waymark.api-key and waymark.tls.")
                            .orElse("Start a server, for example with: temporal server start-dev. Or set"
                                    + " waymark.address."),
                    e);
        } catch (KeyProblem e) {
            throw new WaymarkStartException(
                    "Waymark: " + e.getMessage(), "Correct waymark.codec-keys, or the variable of this name.", e);
        }
    }
}
