package dev.waymark.spring;

import dev.waymark.client.AgentClient;
import dev.waymark.connect.Connection;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/** Provides the worker, which starts and stops with the application, and creates the schedules of the settings. */
@AutoConfiguration(after = WaymarkAutoConfiguration.class)
@ConditionalOnBean(Connection.class)
final class WaymarkWorkerAutoConfiguration {

    @Bean
    @ConditionalOnProperty(name = "waymark.worker.enabled", matchIfMissing = true)
    WorkerLifecycle waymarkWorker(WaymarkProperties properties, Connection connection, ListableBeanFactory beans) {
        WorkerAssembly assembly = new WorkerAssembly(properties, connection, beans);
        return new WorkerLifecycle(assembly::worker, properties.worker().drainTimeout());
    }

    @Bean
    ScheduleSetup waymarkSchedules(WaymarkProperties properties, Connection connection) {
        return new ScheduleSetup(
                properties.schedules(), connection, AgentClient.on(connection, properties.taskQueue()));
    }
}
