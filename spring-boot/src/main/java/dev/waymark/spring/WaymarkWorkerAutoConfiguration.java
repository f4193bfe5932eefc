package dev.waymark.spring;

import dev.waymark.client.AgentClient;
import dev.waymark.connect.Connection;
import java.util.Objects;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Provides the worker, which starts and stops with the application, and creates the schedules of the settings. */
@AutoConfiguration(after = WaymarkAutoConfiguration.class)
@ConditionalOnBean(Connection.class)
final class WaymarkWorkerAutoConfiguration {

    @Bean
    WorkerAssembly waymarkAssembly(WaymarkProperties properties, Connection connection, ListableBeanFactory beans) {
        return new WorkerAssembly(properties, connection, beans);
    }

    @Bean
    @ConditionalOnProperty(name = "waymark.worker.enabled", matchIfMissing = true)
    WorkerLifecycle waymarkWorker(WaymarkProperties properties, WorkerAssembly assembly) {
        return new WorkerLifecycle(assembly::worker, properties.worker().drainTimeout());
    }

    @Bean
    @ConditionalOnProperty("waymark.write-agents")
    AgentsFile waymarkAgentsFile(
            WaymarkProperties properties, WorkerAssembly assembly, ConfigurableApplicationContext application) {
        return new AgentsFile(Objects.requireNonNull(properties.writeAgents()), assembly::agents, application);
    }

    /** Only with the actuator. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(Endpoint.class)
    static class Actuator {
        @Bean
        AgentsEndpoint waymarkAgentsEndpoint(WorkerAssembly assembly) {
            return new AgentsEndpoint(assembly::agents);
        }
    }

    @Bean
    ScheduleSetup waymarkSchedules(WaymarkProperties properties, Connection connection) {
        return new ScheduleSetup(
                properties.schedules(), connection, AgentClient.on(connection, properties.taskQueue()));
    }
}
