package dev.waymark.worker;

import dev.waymark.worker.process.DaemonThreads;
import io.grpc.StatusRuntimeException;
import io.temporal.api.deployment.v1.RoutingConfig;
import io.temporal.api.workflowservice.v1.DescribeWorkerDeploymentRequest;
import io.temporal.client.WorkflowClient;
import io.temporal.common.WorkerDeploymentVersion;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches whether a version of a worker deployment gets work, and logs each change. A worker of another version polls,
 * and looks healthy, but the server gives it nothing.
 */
final class VersionWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(VersionWatch.class);
    /** The server learns of a version only when its first worker polls. */
    private static final long FIRST_SECONDS = 3;

    private static final long EVERY_SECONDS = 10;
    private static final long ANSWER_SECONDS = 5;

    private final WorkflowClient client;
    private final WorkerDeploymentVersion version;
    private final ScheduledExecutorService schedule =
            Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("waymark-version-watch"));
    private volatile Optional<String> idle = Optional.empty();

    VersionWatch(WorkflowClient client, WorkerDeploymentVersion version) {
        this.client = client;
        this.version = version;
    }

    void start() {
        schedule.scheduleWithFixedDelay(this::look, FIRST_SECONDS, EVERY_SECONDS, TimeUnit.SECONDS);
    }

    /** Why the version gets no work; empty if it does, or if this is not known yet. */
    Optional<String> idleReason() {
        return idle;
    }

    private void look() {
        Optional<String> before = idle;
        try {
            idle = idleReason(routing());
        } catch (StatusRuntimeException e) {
            return; // The last known reason stays.
        }
        if (!idle.equals(before)) {
            LOG.warn(idle.orElseGet(() -> words(version.getDeploymentName(), version.getBuildId()) + " gets work now"));
        }
    }

    private RoutingConfig routing() {
        return client.getWorkflowServiceStubs()
                .blockingStub()
                .withDeadlineAfter(ANSWER_SECONDS, TimeUnit.SECONDS)
                .describeWorkerDeployment(DescribeWorkerDeploymentRequest.newBuilder()
                        .setNamespace(client.getOptions().getNamespace())
                        .setDeploymentName(version.getDeploymentName())
                        .build())
                .getWorkerDeploymentInfo()
                .getRoutingConfig();
    }

    private Optional<String> idleReason(RoutingConfig routing) {
        var current = routing.getCurrentDeploymentVersion();
        if (isOurs(current) || isOurs(routing.getRampingDeploymentVersion())) {
            return Optional.empty();
        }
        return Optional.of(words(version.getDeploymentName(), version.getBuildId())
                + " gets no work: it is not the current version"
                + (current.getBuildId().isEmpty()
                        ? ", and no other is"
                        : "; " + words(current.getDeploymentName(), current.getBuildId()) + " is")
                + ". To make it current: temporal worker deployment set-current-version --deployment-name "
                + version.getDeploymentName() + " --build-id " + version.getBuildId());
    }

    private boolean isOurs(io.temporal.api.deployment.v1.WorkerDeploymentVersion other) {
        return version.getDeploymentName().equals(other.getDeploymentName())
                && version.getBuildId().equals(other.getBuildId());
    }

    private static String words(String deployment, String buildId) {
        return "build " + buildId + " of deployment " + deployment;
    }

    @Override
    public void close() {
        schedule.shutdownNow();
    }
}
