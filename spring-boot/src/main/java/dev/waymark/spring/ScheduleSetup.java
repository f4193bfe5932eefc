package dev.waymark.spring;

import dev.waymark.client.AgentClient;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.list.ReportedAgents;
import dev.waymark.client.request.Prompt;
import dev.waymark.client.schedule.NewSchedule;
import dev.waymark.client.schedule.OverlapPolicy;
import dev.waymark.client.schedule.Recurrence;
import dev.waymark.connect.Connection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Creates the schedules of the settings when the application starts, and replaces those that have changed. Schedules that
 * are no longer in the settings stay until somebody deletes them, because another application may have created them.
 */
final class ScheduleSetup implements SmartLifecycle {
    private static final Logger LOG = LoggerFactory.getLogger(ScheduleSetup.class);

    private final Map<String, WaymarkProperties.ScheduleSettings> schedules;
    private final Connection connection;
    private final AgentClient client;
    private volatile boolean running;

    ScheduleSetup(
            Map<String, WaymarkProperties.ScheduleSettings> schedules, Connection connection, AgentClient client) {
        this.schedules = schedules;
        this.connection = connection;
        this.client = client;
    }

    @Override
    public void start() {
        running = true;
        if (connection.isInMemory()) {
            schedules.keySet().forEach(name -> LOG.warn("No schedule {}: an in-memory server has no schedules.", name));
            return;
        }
        schedules.forEach(this::create);
        // The answer of the workers may take seconds, and the application starts without it.
        CompletableFuture.runAsync(this::warn);
    }

    private void warn() {
        ReportedAgents reported = client.reportedAgents();
        schedules.forEach((name, settings) ->
                reported.warning(settings.agent()).ifPresent(why -> LOG.warn("Schedule {}: {}.", name, why)));
    }

    private void create(String name, WaymarkProperties.ScheduleSettings settings) {
        try {
            client.schedules().create(schedule(name, settings).replacingExisting());
            LOG.info("Schedule {} starts threads of agent {}.", name, settings.agent());
        } catch (WaymarkException e) {
            throw new WaymarkStartException(
                    "Waymark: waymark.schedules." + name + ": " + e.getMessage(),
                    e.remedy().toString(),
                    e);
        }
    }

    private static NewSchedule schedule(String name, WaymarkProperties.ScheduleSettings settings) {
        OverlapPolicy overlap = OverlapPolicy.of(settings.overlap())
                .orElseThrow(() -> new WaymarkStartException(
                        "Waymark: waymark.schedules." + name + ".overlap is " + settings.overlap(),
                        "Use one of " + String.join(", ", OverlapPolicy.names())));
        return NewSchedule.of(
                        name,
                        Prompt.of(settings.agent(), settings.message()),
                        Recurrence.only(
                                Optional.ofNullable(settings.cron()),
                                Optional.ofNullable(settings.every()),
                                Optional.ofNullable(settings.calendar())))
                .withTimezone(settings.timezone())
                .withOverlap(overlap)
                .withJitter(settings.jitter());
    }

    @Override
    public void stop() {
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    /** After the worker, so that a thread that is due finds one. */
    @Override
    public int getPhase() {
        return WorkerLifecycle.PHASE + 1;
    }
}
