package dev.waymark.starter.worker;

import com.uber.m3.tally.Scope;
import dev.waymark.cli.CommandFailure;
import dev.waymark.connect.Connection;
import dev.waymark.worker.AgentWorker;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options for serving the metrics of a worker, or of {@code serve}. */
public final class MetricsOptions implements AutoCloseable {
    @Option(
            names = "--metrics-port",
            paramLabel = "PORT",
            description = "Serve /metrics for Prometheus, /healthz and /readyz on this port; 0 chooses one."
                    + " Default: no metrics.")
    private @Nullable Integer port;

    @Option(
            names = "--metrics-host",
            paramLabel = "HOST",
            defaultValue = "127.0.0.1",
            description = "The address that --metrics-port listens on. Default: ${DEFAULT-VALUE}.")
    private String host = "127.0.0.1";

    private @Nullable MetricsEndpoint endpoint;

    /** Starts serving metrics, if requested. {@code /readyz} reports that the process is not ready yet. */
    public void listen() throws CommandFailure {
        if (port == null) {
            return;
        }
        if (port < 0 || port > Connection.LARGEST_PORT) {
            throw CommandFailure.badInput("not a port: " + port, "Use a number from 0 to " + Connection.LARGEST_PORT);
        }
        try {
            endpoint = MetricsEndpoint.listen(host, port);
        } catch (IOException | IllegalArgumentException e) {
            throw CommandFailure.badInput(
                    "metrics can't be served on " + host + ":" + port + ": " + e.getMessage(),
                    "Choose another --metrics-port or --metrics-host");
        }
    }

    /** Returns the scope for metrics of the SDK, if they are served. */
    Optional<Scope> sdkScope() {
        return Optional.ofNullable(endpoint).map(MetricsEndpoint::sdkScope);
    }

    /** Returns the registry whose metrics are served, if they are. */
    public Optional<MeterRegistry> registry() {
        return Optional.ofNullable(endpoint).map(MetricsEndpoint::registry);
    }

    /** Makes the worker report its metrics to the endpoint, if there is one. */
    AgentWorker.Builder countedBy(AgentWorker.Builder worker) {
        return endpoint == null ? worker : worker.metrics(endpoint.registry());
    }

    /** Adds whether the server is lost to the metrics, if they are served. */
    void count(ServerOutage outage) {
        Optional.ofNullable(endpoint).ifPresent(found -> found.count(outage));
    }

    /** Called when the worker has started. From then on, {@code /readyz} reports whether the worker is ready. */
    void started(AgentWorker worker) {
        Optional.ofNullable(endpoint).ifPresent(found -> found.readyWhen(worker::isReady, worker::idleReason));
    }

    /** Sets the condition under which {@code /readyz} reports that a process without a worker is ready. */
    public void readyWhen(BooleanSupplier condition) {
        Optional.ofNullable(endpoint).ifPresent(found -> found.readyWhen(condition, Optional::empty));
    }

    /** Returns the URL of {@code /metrics}, if it is served. */
    public Optional<String> url() {
        return Optional.ofNullable(endpoint).map(found -> "http://" + found.address() + "/metrics");
    }

    @Override
    public void close() {
        Optional.ofNullable(endpoint).ifPresent(MetricsEndpoint::close);
    }
}
