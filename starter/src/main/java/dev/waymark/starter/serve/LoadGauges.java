package dev.waymark.starter.serve;

import dev.waymark.client.LoadReader;
import dev.waymark.client.list.ServerLoad;
import dev.waymark.connect.DaemonThreads;
import dev.waymark.conversation.decision.PendingItem;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * Gauges of what waits for people and for workers, read every 30 seconds. They are NaN while the server does not answer;
 * those of people also while threads have no search attributes.
 */
final class LoadGauges implements AutoCloseable {
    private static final int EVERY_SECONDS = 30;

    private final LoadReader reader;
    private final ScheduledExecutorService reading =
            Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("waymark-load"));
    private volatile Optional<ServerLoad> newest = Optional.empty();

    private LoadGauges(LoadReader reader) {
        this.reader = reader;
    }

    /** Adds the gauges to the registry, if there is one. */
    static LoadGauges of(LoadReader reader, Optional<MeterRegistry> registry) {
        LoadGauges gauges = new LoadGauges(reader);
        registry.ifPresent(gauges::addTo);
        return gauges;
    }

    private void addTo(MeterRegistry registry) {
        for (PendingItem.Kind kind : PendingItem.Kind.values()) {
            add(
                    registry,
                    "waymark.threads.waiting",
                    "",
                    Tags.of("kind", kind.wireName()),
                    load -> Optional.ofNullable(load.waiting().get(kind))
                            .map(Integer::doubleValue)
                            .orElse(Double.NaN));
        }
        add(
                registry,
                "waymark.waiting.oldest",
                "seconds",
                Tags.empty(),
                load -> load.waiting().isEmpty()
                        ? Double.NaN
                        : seconds(load.oldest().orElse(Duration.ZERO)));
        addBacklog(registry, "workflow", ServerLoad::workflowTasks);
        addBacklog(registry, "activity", ServerLoad::activityTasks);
        reading.scheduleWithFixedDelay(this::read, 0, EVERY_SECONDS, TimeUnit.SECONDS);
    }

    private void addBacklog(MeterRegistry registry, String type, Function<ServerLoad, ServerLoad.Backlog> backlog) {
        Tags tags = Tags.of("type", type);
        add(
                registry,
                "waymark.backlog.tasks",
                "",
                tags,
                load -> backlog.apply(load).tasks());
        add(
                registry,
                "waymark.backlog.age",
                "seconds",
                tags,
                load -> seconds(backlog.apply(load).age()));
    }

    private void add(MeterRegistry registry, String name, String unit, Tags tags, ToDoubleFunction<ServerLoad> value) {
        Gauge.builder(name, () -> newest.map(value::applyAsDouble).orElse(Double.NaN))
                .baseUnit(unit.isEmpty() ? null : unit)
                .tags(tags)
                .register(registry);
    }

    private static double seconds(Duration duration) {
        return duration.toMillis() / 1000.0;
    }

    private void read() {
        try {
            newest = Optional.of(reader.read());
        } catch (RuntimeException e) {
            newest = Optional.empty(); // An exception would end the schedule.
        }
    }

    @Override
    public void close() {
        reading.shutdownNow();
    }
}
