package dev.waymark.rehearsal.gate;

import dev.waymark.connect.ServerAnswer;
import dev.waymark.history.ThreadListing;
import io.grpc.StatusRuntimeException;
import io.temporal.api.deployment.v1.RoutingConfig;
import io.temporal.api.deployment.v1.WorkerDeploymentVersion;
import io.temporal.api.workflow.v1.WorkflowExecutionInfo;
import io.temporal.api.workflowservice.v1.DescribeWorkerDeploymentRequest;
import io.temporal.client.WorkflowClient;
import io.temporal.common.converter.DefaultDataConverter;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The open threads that are pinned to a build. Another build begins a new run of them instead of replaying theirs. */
public final class PinnedThreads {
    static final PinnedThreads NONE = new PinnedThreads(Map.of(), List.of());

    private static final String QUERY = ThreadListing.IS_OPEN + " AND TemporalWorkflowVersioningBehavior = 'Pinned'";
    private static final String VERSION = "TemporalWorkerDeploymentVersion";

    private final Map<String, WorkerDeploymentVersion> versions;
    private final List<GateReport.Held> held;

    private PinnedThreads(Map<String, WorkerDeploymentVersion> versions, List<GateReport.Held> held) {
        this.versions = versions;
        this.held = held;
    }

    /** The threads that the server lists as pinned. */
    static PinnedThreads of(WorkflowClient client) {
        Map<String, WorkerDeploymentVersion> versions = new TreeMap<>();
        try {
            new ThreadListing(
                            client.getWorkflowServiceStubs(),
                            client.getOptions().getNamespace())
                    .all(QUERY)
                    .forEach(info -> versions.put(info.getExecution().getWorkflowId(), version(info)));
        } catch (StatusRuntimeException e) {
            if (ServerAnswer.UNSUPPORTED.is(e) || ServerAnswer.INVALID.is(e)) {
                return NONE; // The server has no worker deployments.
            }
            throw e;
        }
        Set<WorkerDeploymentVersion> inUse = versions.values().stream()
                .map(WorkerDeploymentVersion::getDeploymentName)
                .distinct()
                .map(name -> routing(client, name))
                .flatMap(routing ->
                        Stream.of(routing.getCurrentDeploymentVersion(), routing.getRampingDeploymentVersion()))
                .collect(Collectors.toSet());
        return new PinnedThreads(
                versions,
                versions.values().stream()
                        .distinct()
                        .filter(version -> !inUse.contains(version))
                        .sorted(Comparator.comparing(WorkerDeploymentVersion::getDeploymentName)
                                .thenComparing(WorkerDeploymentVersion::getBuildId))
                        .map(version -> GateReport.Held.of(version, versions))
                        .toList());
    }

    boolean contain(String thread) {
        return versions.containsKey(thread);
    }

    /** The builds that are neither current nor ramping, and still have threads. */
    List<GateReport.Held> held() {
        return held;
    }

    /** The server writes versions as {@code DEPLOYMENT:BUILD}; only the build may contain colons. */
    private static WorkerDeploymentVersion version(WorkflowExecutionInfo info) {
        String text = DefaultDataConverter.STANDARD_INSTANCE.fromPayload(
                info.getSearchAttributes().getIndexedFieldsOrThrow(VERSION), String.class, String.class);
        int colon = text.indexOf(':');
        return WorkerDeploymentVersion.newBuilder()
                .setDeploymentName(text.substring(0, Math.max(0, colon)))
                .setBuildId(text.substring(colon + 1))
                .build();
    }

    private static RoutingConfig routing(WorkflowClient client, String deployment) {
        return client.getWorkflowServiceStubs()
                .blockingStub()
                .describeWorkerDeployment(DescribeWorkerDeploymentRequest.newBuilder()
                        .setNamespace(client.getOptions().getNamespace())
                        .setDeploymentName(deployment)
                        .build())
                .getWorkerDeploymentInfo()
                .getRoutingConfig();
    }
}
