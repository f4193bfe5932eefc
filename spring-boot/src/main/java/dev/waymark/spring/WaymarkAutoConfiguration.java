package dev.waymark.spring;

import dev.waymark.client.AgentClient;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.connect.Connection;
import io.micrometer.core.instrument.MeterRegistry;
import io.temporal.client.WorkflowClient;
import io.temporal.serviceclient.WorkflowServiceStubs;
import java.util.Optional;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/**
 * Provides the connection to the Temporal server and the agent client: beans of the types {@link Connection},
 * {@link WorkflowServiceStubs}, {@link WorkflowClient} and {@link AgentClient}. If the application, or Temporal's own
 * starter, has a bean of one of these types, that bean is used.
 */
@AutoConfiguration(
        afterName = {
            "io.temporal.spring.boot.autoconfigure.ServiceStubsAutoConfiguration",
            "io.temporal.spring.boot.autoconfigure.RootNamespaceAutoConfiguration"
        })
@EnableConfigurationProperties(WaymarkProperties.class)
@ConditionalOnProperty(name = "waymark.enabled", matchIfMissing = true)
@Import({ConnectionConfigurations.OwnStubs.class, ConnectionConfigurations.SharedStubs.class})
public final class WaymarkAutoConfiguration {
    WaymarkAutoConfiguration() {}

    @Bean
    SdkMetrics waymarkSdkMetrics(ObjectProvider<MeterRegistry> registry) {
        return new SdkMetrics(Optional.ofNullable(registry.getIfUnique()));
    }

    /** Spring must not close the client, because that would close the connection, which is a bean of its own. */
    @Bean(destroyMethod = "")
    @ConditionalOnMissingBean
    AgentClient waymarkAgentClient(
            Connection connection,
            WaymarkProperties properties,
            ObjectProvider<CallerSpan> callerSpan,
            ObjectProvider<SaveOptions> saving) {
        AgentClient client = AgentClient.on(connection, properties.taskQueue());
        CallerSpan span = callerSpan.getIfAvailable();
        SaveOptions where = saving.getIfUnique();
        AgentClient traced = span == null ? client : client.tracedBy(span::traceparent);
        return where == null ? traced : traced.savingIn(where);
    }
}
