package dev.waymark.starter.worker;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.uber.m3.tally.RootScopeBuilder;
import com.uber.m3.tally.Scope;
import com.uber.m3.tally.ScopeCloseException;
import com.uber.m3.util.Duration;
import dev.waymark.worker.process.DaemonThreads;
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
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;

/**
 * Serves a worker's metrics to Prometheus, and its health to supervisors: {@code /metrics}, {@code /healthz} and {@code
 * /readyz}.
 */
final class MetricsEndpoint implements AutoCloseable {
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";
    private static final int THREADS = 4;

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JvmGcMetrics garbageCollection = new JvmGcMetrics();
    private final Scope sdkScope;
    private final HttpServer server;
    private final ExecutorService executor = Executors.newFixedThreadPool(THREADS, DaemonThreads.named("metrics"));
    private volatile BooleanSupplier ready = () -> false;

    private MetricsEndpoint(InetSocketAddress address) throws IOException {
        server = HttpServer.create(address, 0);
        sdkScope = new RootScopeBuilder()
                .reporter(new MicrometerClientStatsReporter(registry))
                .reportEvery(Duration.ofSeconds(1));
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
        garbageCollection.bindTo(registry);
        server.setExecutor(executor);
        server.createContext("/metrics", exchange -> answer(exchange, 200, PROMETHEUS, registry.scrape()));
        server.createContext("/healthz", exchange -> answer(exchange, 200, TEXT, "ok\n"));
        server.createContext("/readyz", exchange -> {
            boolean isReady = ready.getAsBoolean();
            answer(exchange, isReady ? 200 : 503, TEXT, isReady ? "ready\n" : "not ready\n");
        });
        server.start();
    }

    /**
     * Starts listening. Port 0 takes any free port.
     *
     * @throws IOException if the address cannot be listened on
     */
    static MetricsEndpoint listen(String host, int port) throws IOException {
        return new MetricsEndpoint(new InetSocketAddress(host, port));
    }

    /** Returns the registry whose metrics are served. */
    MeterRegistry registry() {
        return registry;
    }

    /** Returns the scope for metrics of the Temporal SDK, which are served too. */
    Scope sdkScope() {
        return sdkScope;
    }

    /** Returns the address that the server listens on, as {@code HOST:PORT}. */
    String address() {
        InetSocketAddress address = server.getAddress();
        return address.getHostString() + ":" + address.getPort();
    }

    /** Sets the readiness condition. Until this is called, {@code /readyz} returns 503. */
    void readyWhen(BooleanSupplier condition) {
        ready = condition;
    }

    private static void answer(HttpExchange exchange, int status, String type, String body) throws IOException {
        try (exchange) {
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", type);
            boolean isHead = exchange.getRequestMethod().equals("HEAD");
            exchange.sendResponseHeaders(status, isHead ? -1 : bytes.length);
            if (!isHead) {
                exchange.getResponseBody().write(bytes);
            }
        }
    }

    @Override
    public void close() {
        server.stop(0);
        executor.shutdownNow();
        garbageCollection.close();
        try {
            sdkScope.close(); // Ends its reporter thread.
        } catch (ScopeCloseException e) {
            // The registry is closed too, so nothing can be reported any more.
        }
        registry.close();
    }
}
