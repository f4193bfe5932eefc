package dev.waymark.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.client.AgentClient;
import dev.waymark.client.schedule.AgentSchedule;
import dev.waymark.client.schedule.OverlapPolicy;
import dev.waymark.client.schedule.Recurrence;
import dev.waymark.worker.Agent;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import io.grpc.StatusRuntimeException;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Schedules in the settings of an application, on the real server. */
@Tag("full")
@Tag("server")
class ScheduleSettingsServerTest {
    private static DevServer server;

    @BeforeAll
    static void start() throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        Assumptions.assumeTrue(binary.isPresent(), "no temporal binary on PATH nor in TEMPORAL_CLI");
        server = DevServer.temporal(binary.get(), Optional.empty(), 0, 0);
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
    }

    private static ApplicationContextRunner application(String address) {
        return new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(WaymarkAutoConfiguration.class, WaymarkWorkerAutoConfiguration.class))
                .withPropertyValues(
                        "waymark.address=" + address,
                        "waymark.schedules.nightly.agent=billing",
                        "waymark.schedules.nightly.message=Check the invoices");
    }

    @Test
    void settings_createAScheduleAndReplaceItAfterAChange() {
        application(server.address())
                .withPropertyValues("waymark.schedules.nightly.cron=0 2 * * *")
                .run(context -> assertThat(nightly(context.getBean(AgentClient.class))
                                .timing()
                                .recurrence())
                        .contains(Recurrence.cron("0 2 * * *")));
        application(server.address())
                .withPropertyValues(
                        "waymark.schedules.nightly.cron=0 3 * * *",
                        "waymark.schedules.nightly.timezone=Europe/Berlin",
                        "waymark.schedules.nightly.overlap=buffer")
                .run(context -> {
                    AgentSchedule nightly = nightly(context.getBean(AgentClient.class));
                    assertThat(nightly.timing().recurrence()).contains(Recurrence.cron("0 3 * * *"));
                    assertThat(nightly.timing().timezone()).isEqualTo("Europe/Berlin");
                    assertThat(nightly.timing().overlap()).contains(OverlapPolicy.BUFFER);
                });
    }

    private static AgentSchedule nightly(AgentClient client) {
        return client.schedules().get("nightly");
    }

    @Test
    void invalidSettings_keepTheApplicationFromStarting() {
        application(server.address())
                .withPropertyValues("waymark.schedules.nightly.cron=0 0 3 * * *")
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining(
                                "waymark.schedules.nightly: a cron expression has five fields, not 6: 0 0 3 * * *"));
        application(server.address())
                .withPropertyValues("waymark.schedules.nightly.cron=0 3 30 2 *")
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining("the times of the schedule nightly never come: 0 3 30 2 *"));
        application(server.address())
                .withPropertyValues(
                        "waymark.schedules.nightly.cron=0 3 * * *", "waymark.schedules.nightly.overlap=sometimes")
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining("waymark.schedules.nightly.overlap is sometimes"));
    }

    @Test
    void missingNamespace_isNamed() {
        application(server.address())
                .withBean(
                        Agent.class,
                        () -> Agent.named("billing").model("anthropic:any").build())
                .withPropertyValues("waymark.schedules.nightly.cron=0 3 * * *", "waymark.namespace=nowhere")
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(StatusRuntimeException.class)
                        .satisfies(cause -> assertThat(context.getStartupFailure())
                                .hasStackTraceContaining("Waymark: Namespace nowhere is not found.")));
    }

    @Test
    void settings_onAnInMemoryServer_leaveTheApplicationWithoutSchedules() throws Exception {
        try (DevServer memory = DevServer.inMemory(0)) {
            application(memory.address())
                    .withPropertyValues("waymark.schedules.nightly.cron=0 3 * * *")
                    .run(context -> assertThat(context).hasNotFailed());
        }
    }
}
