package dev.waymark.spring;

import dev.waymark.connect.ServerAnswer;
import dev.waymark.worker.AgentWorker;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Runs the worker while the application runs. It starts before the web server accepts requests, and drains after the
 * web server has finished the last one, because requests may wait for agents. The beans that tools use still exist at
 * that time.
 */
final class WorkerLifecycle implements SmartLifecycle {
    /** A phase below the phases of web servers. The lowest of these is about 2,000 below the default phase. */
    static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 4_096;

    private static final Logger LOG = LoggerFactory.getLogger(WorkerLifecycle.class);

    private final Supplier<Optional<AgentWorker>> factory;
    private final Duration drainTimeout;
    private volatile Optional<AgentWorker> running = Optional.empty();

    /** @param factory builds the worker; returns empty if the application has no agents */
    WorkerLifecycle(Supplier<Optional<AgentWorker>> factory, Duration drainTimeout) {
        this.factory = factory;
        this.drainTimeout = drainTimeout;
    }

    /** The worker, while it runs. */
    Optional<AgentWorker> running() {
        return running;
    }

    @Override
    public void start() {
        Optional<AgentWorker> built = factory.get();
        try {
            built.ifPresent(AgentWorker::start);
        } catch (StatusRuntimeException e) {
            if (!ServerAnswer.GONE.is(e)) {
                throw e;
            }
            throw new WaymarkStartException(
                    "Waymark: " + e.getStatus().getDescription(), "Create the namespace, or set waymark.namespace.", e);
        }
        running = built;
    }

    /** Blocks while running calls finish, so Spring's timeout for the shutdown of a phase does not cut them off. */
    @Override
    public void stop() {
        Optional<AgentWorker> stopping = running;
        running = Optional.empty();
        stopping.ifPresent(this::drain);
    }

    private void drain(AgentWorker worker) {
        LOG.info("Draining: waiting up to {} s for running calls.", drainTimeout.toSeconds());
        if (!worker.drain(drainTimeout)) {
            LOG.warn("Calls were still running after {} s and were interrupted.", drainTimeout.toSeconds());
        }
    }

    @Override
    public boolean isRunning() {
        return running.isPresent();
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}
