package dev.waymark.spring;

import dev.waymark.connect.Connection;
import java.util.Optional;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** The health indicator {@code waymark} for Spring Boot 4, whose health classes are in a separate module. */
@AutoConfiguration(after = WaymarkWorkerAutoConfiguration.class)
@ConditionalOnClass(HealthIndicator.class)
@ConditionalOnBean(Connection.class)
@ConditionalOnProperty(name = "management.health.waymark.enabled", matchIfMissing = true)
final class ModuleHealthAutoConfiguration {

    @Bean
    HealthIndicator waymarkHealthIndicator(Connection connection, ObjectProvider<WorkerLifecycle> worker) {
        WaymarkHealth health = new WaymarkHealth(connection, Optional.ofNullable(worker.getIfAvailable()));
        return () -> (health.isUp() ? Health.up() : Health.down())
                .withDetails(health.details())
                .build();
    }
}
