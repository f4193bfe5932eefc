package dev.waymark.starter.worker;

import dev.waymark.cli.CommandFailure;
import dev.waymark.connect.Connection;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.worker.AgentWorker;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that make a worker a version of a worker deployment. */
final class DeploymentOptions {
    private static final String NAME_VARIABLE = "TEMPORAL_DEPLOYMENT_NAME";
    private static final String PINNED = "--pinned";
    private static final String BUILD_VARIABLE = "TEMPORAL_WORKER_BUILD_ID";

    @Option(
            names = "--deployment",
            paramLabel = "NAME",
            description = "The name of this worker's deployment. Default: TEMPORAL_DEPLOYMENT_NAME, or none.")
    private @Nullable String name;

    @Option(
            names = "--build-id",
            paramLabel = "ID",
            description = "With --deployment: the build id of this worker, such as a commit. Default:"
                    + " TEMPORAL_WORKER_BUILD_ID.")
    private @Nullable String buildId;

    @Option(
            names = PINNED,
            description =
                    "With --deployment: threads stay with the build that executes them, and continue as new on the"
                            + " current one between two steps. Needs a server from 1.31 on. Default: the current build continues"
                            + " open runs.")
    private boolean pinned;

    /** Makes the worker a version of a deployment, if the options or the environment name one. */
    AgentWorker.Builder of(AgentWorker.Builder worker, Connection connection) throws CommandFailure {
        Map<String, String> environment = ProcessEnvironment.get();
        Optional<String> deployment = value(name, environment.get(NAME_VARIABLE));
        Optional<String> build = value(buildId, environment.get(BUILD_VARIABLE));
        if (deployment.isEmpty() && build.isEmpty()) {
            if (pinned) {
                throw CommandFailure.badInput(
                        PINNED + " needs a deployment", "Add --deployment NAME and --build-id ID, or leave it out");
            }
            return worker;
        }
        if (deployment.isEmpty() || build.isEmpty()) {
            throw CommandFailure.badInput(
                    "a version needs both a deployment and a build id; found only "
                            + deployment.orElseGet(build::orElseThrow),
                    "Add " + (deployment.isEmpty() ? "--deployment NAME" : "--build-id ID"));
        }
        if (connection.isInMemory()) {
            throw CommandFailure.badInput(
                    "the in-memory server has no worker deployments: " + deployment.get(), "Leave --deployment out");
        }
        worker.deployment(deployment.get(), build.get());
        if (pinned) {
            Optional<String> problem = connection.serverVersion().pinningProblem();
            if (problem.isPresent()) {
                throw CommandFailure.badInput(problem.get(), "Leave " + PINNED + " out, or upgrade the server");
            }
            worker.pinned();
        }
        return worker;
    }

    private static Optional<String> value(@Nullable String given, @Nullable String variable) {
        return Optional.ofNullable(given)
                .or(() -> Optional.ofNullable(variable))
                .filter(text -> !text.isBlank());
    }
}
