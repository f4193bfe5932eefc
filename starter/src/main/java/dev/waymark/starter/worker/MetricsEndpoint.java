package dev.waymark.starter.worker;

import com.uber.m3.tally.RootScopeBuilder;
import com.uber.m3.tally.Scope;
import com.uber.m3.tally.ScopeCloseException;
import com.uber.m3.util.Duration;
import dev.waymark.server.http.HttpListener;
import dev.waymark.server.http.HttpReply;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.temporal.common.reporter.MicrometerClientStatsReporter;
import java.io.IOException;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Serves metrics of a process to Prometheus, and its health to supervisors: {@code /metrics}, {@code /healthz} and {@code
 * /readyz}.
 */
final class MetricsEndpoint implements AutoCloseable {
    private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JvmGcMetrics garbageCollection = new JvmGcMetrics();
    private final Scope sdkScope;
    private final String host;
    private final HttpListener server;
    private volatile BooleanSupplier ready = () -> false;
    private volatile Supplier<Optional<String>> idleReason = Optional::empty;

    private MetricsEndpoint(String host, int port) throws IOException {
        this.host = host;
        sdkScope = new RootScopeBuilder()
                .reporter(new MicrometerClientStatsReporter(registry))
                .reportEvery(Duration.ofSeconds(1));
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
        garbageCollection.bindTo(registry);
        server = HttpListener.start(host, port, "metrics", request -> answer(request.path()));
    }

    /**
     * Starts listening. Port 0 takes any free port.
     *
     * @throws IOException if the address cannot be listened on
     */
    static MetricsEndpoint listen(String host, int port) throws IOException {
        return new MetricsEndpoint(host, port);
    }

    /** Returns the registry whose metrics are served. */
    MeterRegistry registry() {
        return registry;
    }

    /** Adds two metrics that are 1 while the server is lost, or only its database. */
    void count(ServerOutage outage) {
        Gauge.builder("waymark.server.lost", outage, of -> of.isOn() ? 1 : 0)
                .description("Whether the Temporal server does not answer or cannot reach its database")
                .register(registry);
        Gauge.builder("waymark.server.database.lost", outage, of -> of.isOfDatabase() ? 1 : 0)
                .description("Whether the Temporal server answers, but cannot reach its database")
                .register(registry);
    }

    /** Returns the scope for metrics of the Temporal SDK, which are served too. */
    Scope sdkScope() {
        return sdkScope;
    }

    /** Returns the address that the server listens on, as {@code HOST:PORT}. */
    String address() {
        return host + ":" + server.port();
    }

    /**
     * Sets the readiness condition. Until this is called, {@code /readyz} returns 503.
     *
     * @param reason why a ready worker gets no work, if so. It still counts as ready, because a rollout waits for
     *     readiness before it makes a version current
     */
    void readyWhen(BooleanSupplier condition, Supplier<Optional<String>> reason) {
        idleReason = reason;
        ready = condition;
    }

    private HttpReply answer(String path) {
        return switch (path) {
            case "/metrics" -> HttpReply.text(200, PROMETHEUS, registry.scrape());
            case "/healthz" -> HttpReply.text(200, "ok");
            case "/readyz" ->
                ready.getAsBoolean()
                        ? HttpReply.text(
                                200,
                                "ready"
                                        + idleReason
                                                .get()
                                                .map(why -> "; " + why)
                                                .orElse(""))
                        : HttpReply.text(503, "not ready");
            default -> HttpReply.text(404, "not found");
        };
    }

    @Override
    public void close() {
        server.close();
        garbageCollection.close();
        try {
            sdkScope.close(); // Ends its reporter thread.
        } catch (ScopeCloseException e) {
            // The registry is closed too, so the failure cannot be reported.
        }
        registry.close();
    }
}
