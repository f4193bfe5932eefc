package dev.waymark.worker;

import dev.waymark.connect.DaemonThreads;
import io.grpc.StatusRuntimeException;
import io.temporal.api.deployment.v1.RoutingConfig;
import io.temporal.api.deployment.v1.WorkerDeploymentInfo;
import io.temporal.api.deployment.v1.WorkerDeploymentInfo.WorkerDeploymentVersionSummary;
import io.temporal.api.enums.v1.WorkerDeploymentVersionStatus;
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
    private final boolean pinned;
    private final ScheduledExecutorService schedule =
            Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("waymark-version-watch"));
    private volatile Optional<String> idle = Optional.empty();

    /** @param pinned whether the version goes on getting the work of its threads when another version is current */
    VersionWatch(WorkflowClient client, WorkerDeploymentVersion version, boolean pinned) {
        this.client = client;
        this.version = version;
        this.pinned = pinned;
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
            idle = idleReason(deployment());
        } catch (StatusRuntimeException e) {
            return; // The last known reason stays.
        }
        if (!idle.equals(before)) {
            LOG.warn(idle.orElseGet(() -> words(version.getDeploymentName(), version.getBuildId()) + " gets work now"));
        }
    }

    private WorkerDeploymentInfo deployment() {
        return client.getWorkflowServiceStubs()
                .blockingStub()
                .withDeadlineAfter(ANSWER_SECONDS, TimeUnit.SECONDS)
                .describeWorkerDeployment(DescribeWorkerDeploymentRequest.newBuilder()
                        .setNamespace(client.getOptions().getNamespace())
                        .setDeploymentName(version.getDeploymentName())
                        .build())
                .getWorkerDeploymentInfo();
    }

    private Optional<String> idleReason(WorkerDeploymentInfo deployment) {
        RoutingConfig routing = deployment.getRoutingConfig();
        var current = routing.getCurrentDeploymentVersion();
        if (isOurs(current)
                || isOurs(routing.getRampingDeploymentVersion())
                || (pinned && deployment.getVersionSummariesList().stream().anyMatch(this::isOursAndDrains))) {
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

    private boolean isOursAndDrains(WorkerDeploymentVersionSummary summary) {
        return isOurs(summary.getDeploymentVersion())
                && summary.getStatus() == WorkerDeploymentVersionStatus.WORKER_DEPLOYMENT_VERSION_STATUS_DRAINING;
    }

    private static String words(String deployment, String buildId) {
        return "build " + buildId + " of deployment " + deployment;
    }

    @Override
    public void close() {
        schedule.shutdownNow();
    }
}
