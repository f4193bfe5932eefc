package dev.waymark.starter.worker;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.connect.Connection;
import dev.waymark.starter.connection.ConnectionOptions;
import dev.waymark.starter.render.Output;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.server.DevServer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@HelpEntry(group = CommandGroup.RUN_AGENTS, examples = "worker --agents my-agents --address temporal.example:7233")
@Command(
        name = "worker",
        description = {
            "Runs agents on an existing Temporal server.",
            "After SIGTERM or Ctrl-C, running calls can finish before the worker exits."
        })
public final class WorkerCommand implements Callable<Integer> {

    /** Long, because supervisors send SIGKILL if they need a faster end. */
    private static final Duration DRAIN = Duration.ofHours(1);

    @Mixin
    private Output output;

    @Mixin
    private AgentsOptions agents;

    @Mixin
    private MetricsOptions metrics;

    @Mixin
    private DeploymentOptions deployment;

    @Mixin
    private CapacityOptions capacity;

    @Mixin
    private LimitsOptions limits;

    @Mixin
    private JournalOptions journal;

    @Mixin
    private ReceiverOptions receivers;

    @Option(
            names = "--task-queue",
            paramLabel = "Q",
            description = "Task queue to poll. Default: WAYMARK_TASK_QUEUE, or waymark.")
    private @Nullable String taskQueue;

    @Override
    public Integer call() throws Exception {
        WorkerLog.toStderr(output.isVerbose());
        AgentsOptions.Setup setup = agents.load();
        setup.warnings().forEach(output::note);
        String queue = Optional.ofNullable(taskQueue).orElseGet(AgentsOptions::taskQueue);
        metrics.listen();
        try (MetricsOptions closed = metrics;
                TerminationSignal termination = TerminationSignal.listen();
                Connection connection = ConnectionOptions.connect(metrics.sdkScope());
                ServerOutage watched = ServerOutage.watch(connection);
                AgentWorker worker = metrics.countedBy(receivers.of(journal.of(limits.of(
                                capacity.of(deployment.of(setup.worker(connection, queue), connection)),
                                setup.providers()))))
                        .build()) {
            receivers.warnings(setup.agents().agents().values()).forEach(output::note);
            worker.start();
            metrics.count(watched);
            metrics.started(worker);
            DevServer.Kind kind = connection.isInMemory() ? DevServer.Kind.IN_MEMORY : DevServer.Kind.TEMPORAL;
            if (output.isJson()) {
                output.document(ReadyLine.of(
                        connection.address(),
                        Optional.empty(),
                        queue,
                        setup.agents().names(),
                        kind.wireName(),
                        metrics.url(),
                        Optional.empty()));
            } else {
                output.note("The worker is ready.\n"
                        + "  server      " + connection.address() + " (" + kind.wireName() + "), namespace "
                        + connection.namespace() + "\n"
                        + "  task queue  " + queue + "\n"
                        + "  agents      " + Banner.agents(setup.agents())
                        + limits.names()
                                .map(names -> "\n  limits      " + names)
                                .orElse("")
                        + metrics.url().map(url -> "\n  metrics     " + url).orElse(""));
            }
            termination.await();
            output.note("Draining: waiting for running calls.");
            worker.drain(DRAIN);
        }
        return ExitCode.DONE;
    }
}
