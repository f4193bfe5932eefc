package dev.waymark.worker;

import dev.waymark.agent.AgentSpec;
import dev.waymark.annotation.Internal;
import dev.waymark.connect.Connection;
import dev.waymark.connect.ConnectionException;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.connect.ServerVersion;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.AgentWorkflow;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.history.HistoryReader;
import dev.waymark.history.RunReader;
import dev.waymark.model.ModelProvider;
import dev.waymark.tool.CallJudge;
import dev.waymark.worker.activity.ActivityProblems;
import dev.waymark.worker.activity.StateActivityImpl;
import dev.waymark.worker.activity.TakenOverActivities;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.announce.Receivers;
import dev.waymark.worker.announce.delivery.AnnounceActivityImpl;
import dev.waymark.worker.journal.ClaimJournal;
import dev.waymark.worker.journal.EndedWorkers;
import dev.waymark.worker.judge.CallJudges;
import dev.waymark.worker.judge.JudgeActivityImpl;
import dev.waymark.worker.limit.ServiceLimits;
import dev.waymark.worker.metrics.AttemptMetrics;
import dev.waymark.worker.metrics.FactMetrics;
import dev.waymark.worker.model.LiveReplies;
import dev.waymark.worker.model.ModelActivityImpl;
import dev.waymark.worker.model.ModelChecks;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.resolution.AgentActivityImpl;
import dev.waymark.worker.tool.ClaimSender;
import dev.waymark.worker.tool.FusedCalls;
import dev.waymark.worker.tool.LateOutcomeSender;
import dev.waymark.worker.tool.TaskActivityImpl;
import dev.waymark.worker.tool.ToolActivity;
import dev.waymark.worker.tool.ToolKinds;
import dev.waymark.worker.tool.ToolRunner;
import dev.waymark.worker.tool.VerifyActivityImpl;
import dev.waymark.worker.tool.java.JavaTools;
import dev.waymark.worker.workflow.AgentListWorkflowImpl;
import dev.waymark.worker.workflow.AgentWorkflowImpl;
import dev.waymark.workflow.AgentService;
import dev.waymark.workflow.AgentServiceHandler;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.temporal.activity.Activity;
import io.temporal.activity.ActivityInfo;
import io.temporal.client.WorkflowClient;
import io.temporal.common.VersioningBehavior;
import io.temporal.common.WorkerDeploymentVersion;
import io.temporal.common.converter.EncodedValues;
import io.temporal.common.interceptors.WorkerInterceptor;
import io.temporal.worker.Worker;
import io.temporal.worker.WorkerDeploymentOptions;
import io.temporal.worker.WorkerFactory;
import io.temporal.worker.WorkerFactoryOptions;
import io.temporal.worker.WorkerOptions;
import io.temporal.worker.WorkflowImplementationOptions;
import io.temporal.workflow.Workflow;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Runs agents: the workflows that drive conversations, and the activities that call models and run tools. Any number of
 * workers can share a task queue; any of them can continue any thread. An instance can be started only once.
 *
 * <pre>{@code
 * AgentWorker worker = AgentWorker.on(connection)
 *         .agent(Agent.named("billing").model("anthropic:claude-haiku-4-5").tools(new Billing()).build())
 *         .build();
 * worker.start();
 * }</pre>
 */
public final class AgentWorker implements AutoCloseable {

    /** Time that interrupted tools get to clean up. */
    private static final Duration CLEANUP_TIME = Duration.ofSeconds(5);

    /**
     * How long a workflow task may compute: well above the time that it needs, and below the server's timeout of ten
     * seconds. Packing a conversation of 40 MiB takes 0.7 s in a worker that has just started. With the SDK's default
     * of one second, the tasks of a large thread would fail again and again on a busy machine.
     */
    private static final Duration DEADLOCK = Duration.ofSeconds(5);

    /** Time limit for the server's answer in the readiness check. */
    private static final Duration READINESS = Duration.ofSeconds(2);

    /** The server accepts no longer ids. */
    private static final int MOST_QUEUE_BYTES = 1_000;

    private static final boolean VIRTUAL_THREADS = Runtime.version().feature() >= 21;

    private final WorkflowClient client;
    private final String taskQueue;
    private final UnaryOperator<WorkerOptions.Builder> customization;
    private final WorkerFactoryOptions factoryOptions;
    private final WorkerOptions options;
    private final Optional<WorkerDeploymentVersion> deployment;
    private final VersioningBehavior behavior;
    private final Optional<VersionWatch> version;
    private final ServiceLimits limits;
    private final Optional<LimitWatch> limitWatch;
    private final RunReader runs;
    private final ToolKinds kinds;
    private final FactMetrics threadMetrics;
    private final AttemptMetrics activityMetrics;
    private final WorkerFactory factory;
    private final AnnounceActivityImpl announcements;
    private final LiveReplies live;
    private final WordsWorker words;
    private final ClaimJournal journal;
    private final Optional<Path> journalDirectory;
    private volatile boolean draining;

    private AgentWorker(Builder builder) {
        this.client = builder.client;
        this.taskQueue = builder.taskQueue;
        this.customization = builder.customization;
        this.factoryOptions = factoryOptions(builder);
        this.deployment = builder.deployment;
        this.behavior = builder.pinned ? VersioningBehavior.PINNED : VersioningBehavior.AUTO_UPGRADE;
        ServerVersion server = Connection.serverVersion(client.getWorkflowServiceStubs());
        check(server, builder);
        this.options = options(!server.isInMemory(), deployment);
        this.version = deployment.map(of -> new VersionWatch(client, of, builder.pinned));
        this.limits = builder.limits;
        // Without limits of its own, too: calls may wait for a limit that was removed.
        this.limitWatch = server.isInMemory()
                ? Optional.empty()
                : Optional.of(new LimitWatch(
                        client, taskQueue, limits, builder.agents.agents().values()));
        this.runs = new RunReader(new HistoryReader(client), Math.max(1, factoryOptions.getWorkflowCacheSize()));
        this.kinds = new ToolKinds(ProcessEnvironment.get(), builder.agents.path(), builder.tools);
        this.threadMetrics = new FactMetrics(builder.metrics);
        this.activityMetrics = new AttemptMetrics(builder.metrics);
        this.announcements = new AnnounceActivityImpl(builder.receivers, activityMetrics);
        this.journal =
                new ClaimJournal(client.getWorkflowServiceStubs().getOptions().getTarget() + " "
                        + client.getOptions().getNamespace());
        this.journalDirectory = builder.journal;
        this.live = new LiveReplies(thread -> PayloadJson.dataConverter(client, thread));
        this.words = new WordsWorker(client, live, VIRTUAL_THREADS, DEADLOCK);
        this.factory = newFactory();
        Worker worker = factory.newWorker(taskQueue, options);
        registerWorkflows(worker);
        ModelActivityImpl models = registerActivities(worker, builder);
        limits.byName()
                .forEach((name, limit) -> factory.newWorker(limitedQueue(name), limited(limit))
                        .registerActivitiesImplementations(models));
        if (builder.nexus) {
            worker.registerNexusServiceImplementation(new AgentServiceHandler(taskQueue));
        }
    }

    private static void check(ServerVersion server, Builder builder) {
        if (server.isInMemory() && builder.deployment.isPresent()) {
            throw new IllegalArgumentException("the in-memory server has no worker deployments");
        }
        if (builder.pinned && builder.deployment.isEmpty()) {
            throw new IllegalArgumentException("threads are pinned to builds of a deployment, and the worker has none");
        }
        if (builder.pinned && server.pinningProblem().isPresent()) {
            throw new IllegalArgumentException(server.pinningProblem().get());
        }
    }

    /** Returns a builder of a worker that uses this client to reach its server. */
    public static Builder builder(WorkflowClient client) {
        return new Builder(client);
    }

    /** Returns a builder of a worker that uses this connection. */
    public static Builder on(Connection connection) {
        return builder(connection.client());
    }

    /** Workflows pass their states to the activities of this process, which then need not read them from the server. */
    private void registerWorkflows(Worker worker) {
        worker.registerWorkflowImplementationFactory(
                AgentWorkflow.class,
                (EncodedValues arguments) -> new AgentWorkflowImpl(
                        arguments.get(0, StartInput.class),
                        called -> runs.note(
                                Workflow.getInfo().getWorkflowId(),
                                Workflow.getInfo().getRunId(),
                                called),
                        threadMetrics::applied,
                        model -> limits.nameFor(model).map(name -> WireNames.limitedQueue(taskQueue, name))),
                WorkflowImplementationOptions.getDefaultInstance());
        worker.registerWorkflowImplementationTypes(AgentListWorkflowImpl.class);
    }

    /** Returns the activity that calls models. */
    private ModelActivityImpl registerActivities(Worker worker, Builder builder) {
        ToolRunner tools = new ToolRunner(kinds);
        builder.agents.agents().values().forEach(agent -> tools.hideSecretsOf(agent.allTools()));
        CallJudges judges = new CallJudges(builder.judges, tools);
        ModelActivityImpl models = new ModelActivityImpl(
                runs, builder.providers.orElseThrow(), judges, new FusedCalls(tools), live, activityMetrics);
        worker.registerActivitiesImplementations(
                announcements,
                new AgentActivityImpl(
                        builder.agents,
                        kinds.discovery(),
                        judges,
                        this::obstacle,
                        agent -> builder.providers.orElseThrow().lacks(agent)),
                new JudgeActivityImpl(runs, judges),
                models,
                new ToolActivity(
                        runs,
                        tools,
                        new ClaimSender(client, activityMetrics),
                        new LateOutcomeSender(client),
                        journal,
                        () -> draining),
                new VerifyActivityImpl(runs, tools),
                new TaskActivityImpl(runs, tools),
                new StateActivityImpl(runs));
        return models;
    }

    /**
     * Returns why the thread of the current activity must not start; empty if it may. A subagent's thread must not
     * start if an earlier thread ran its call, or if another thread continues the parent and has the same call. Only
     * ids of subagents' threads contain a slash.
     */
    private Optional<Problem> obstacle() {
        ActivityInfo info = Activity.getExecutionContext().getInfo();
        if (!info.getWorkflowId().contains("/")) {
            return Optional.empty();
        }
        if (ActivityProblems.reading(() -> runs.wasBegunBefore(info.getWorkflowId(), info.getWorkflowRunId()))) {
            return Optional.of(new Problem(
                    ProblemType.RAN_BEFORE,
                    "an earlier thread had this call before a reset, and the server no longer has its history"));
        }
        return ActivityProblems.reading(() -> runs.parentContinuedAs(info.getWorkflowId(), info.getWorkflowRunId()))
                .map(other -> new Problem(
                        ProblemType.GOES_ON_ELSEWHERE,
                        "it was not started, because the parent thread continues as " + other
                                + ", which has the same call"));
    }

    /** Returns the task queue that the worker polls. */
    public String taskQueue() {
        return taskQueue;
    }

    /** Whether the worker polls for tasks and the server answers. */
    public boolean isReady() {
        return factory.isStarted()
                && !draining
                && !factory.isShutdown()
                && Connection.answers(client.getWorkflowServiceStubs(), READINESS);
    }

    /**
     * Why this worker gets no work although it polls: another version of its {@linkplain Builder#deployment deployment}
     * is current. Learned from the server every 10 seconds. Empty if the worker gets work, or has no deployment.
     */
    public Optional<String> idleReason() {
        return version.flatMap(VersionWatch::idleReason);
    }

    /** Starts polling for tasks, and returns this worker. Reports calls of killed workers, if there is a journal. */
    public AgentWorker start() {
        journalDirectory.ifPresent(directory -> new EndedWorkers(client).reportFrom(journal, directory));
        words.start();
        factory.start();
        version.ifPresent(VersionWatch::start);
        limitWatch.ifPresent(LimitWatch::start);
        return this;
    }

    /**
     * Stops polling for tasks and waits for running activities. The results of tools and model calls that finish in
     * time are recorded. Activities that still run after {@code most} are interrupted, and have 5 seconds to end.
     *
     * @return whether everything finished without being interrupted
     */
    public boolean drain(Duration most) {
        draining = true;
        version.ifPresent(VersionWatch::close);
        limitWatch.ifPresent(LimitWatch::close);
        // Running activities may need an answer from their workflow, but this worker no longer takes workflow tasks,
        // and it may be the only one. Until they finish, a second worker takes workflow tasks, but runs no activities.
        WorkerFactory workflows = newFactory();
        registerWorkflows(workflows.newWorker(taskQueue, options(false, deployment)));
        workflows.start();
        factory.shutdown();
        factory.awaitTermination(most.toMillis(), TimeUnit.MILLISECONDS);
        boolean finished = factory.isTerminated();
        factory.shutdownNow();
        factory.awaitTermination(CLEANUP_TIME.toMillis(), TimeUnit.MILLISECONDS);
        words.stop();
        workflows.shutdown();
        workflows.awaitTermination(CLEANUP_TIME.toMillis(), TimeUnit.MILLISECONDS);
        words.awaitEnd(CLEANUP_TIME);
        kinds.close();
        announcements.close();
        return finished;
    }

    /** Interrupts running activities, which have 5 seconds to end. To Temporal, this looks like a crashed worker. */
    @Override
    public void close() {
        version.ifPresent(VersionWatch::close);
        limitWatch.ifPresent(LimitWatch::close);
        factory.shutdownNow();
        words.stop();
        factory.awaitTermination(CLEANUP_TIME.toMillis(), TimeUnit.MILLISECONDS);
        words.awaitEnd(CLEANUP_TIME);
        kinds.close();
        announcements.close();
    }

    private WorkerFactory newFactory() {
        return WorkerFactory.newInstance(client, factoryOptions);
    }

    private static WorkerFactoryOptions factoryOptions(Builder builder) {
        return builder.factoryCustomization
                .apply(WorkerCapacity.ofThisMachine()
                        .factoryOptions()
                        .setUsingVirtualWorkflowThreads(VIRTUAL_THREADS)
                        .setWorkerInterceptors(
                                Stream.concat(Stream.of(new TakenOverActivities()), builder.interceptors.stream())
                                        .toArray(WorkerInterceptor[]::new)))
                .validateAndBuildWithDefaults();
    }

    private WorkerOptions options(boolean sticky, Optional<WorkerDeploymentVersion> deployment) {
        WorkerOptions.Builder options = WorkerCapacity.ofThisMachine()
                .complete(customization
                        .apply(WorkerOptions.newBuilder()
                                .setUsingVirtualThreads(VIRTUAL_THREADS)
                                .setDefaultDeadlockDetectionTimeout(DEADLOCK.toMillis()))
                        .build());
        if (!sticky) {
            // Disables the sticky queue. The in-memory server would wait forever for the last worker of a thread, even
            // after that worker is gone. The real server waits five seconds.
            options.setStickyQueueScheduleToStartTimeout(Duration.ZERO);
        }
        // Threads outlive builds. By default, a build continues the runs of earlier builds; pinned threads continue as
        // new to get there.
        deployment.ifPresent(version -> options.setDeploymentOptions(WorkerDeploymentOptions.newBuilder()
                .setUseVersioning(true)
                .setVersion(version)
                .setDefaultVersioningBehavior(behavior)
                .build()));
        return options.build();
    }

    private String limitedQueue(String limit) {
        String queue = WireNames.limitedQueue(taskQueue, limit);
        if (queue.getBytes(StandardCharsets.UTF_8).length > MOST_QUEUE_BYTES) {
            throw new IllegalArgumentException("the task queue for the limit " + limit + " has a name of more than "
                    + MOST_QUEUE_BYTES + " bytes: " + queue);
        }
        return queue;
    }

    /** The options for the task queue of a limit, which has slots of its own. */
    private WorkerOptions limited(ServiceLimits.Limit limit) {
        WorkerOptions.Builder own = WorkerOptions.newBuilder(options);
        // Zero is the server's own, and not a rate that was set for the other task queue.
        own.setMaxTaskQueueActivitiesPerSecond(
                limit.requestsPerMinute().orElse(0) / (double) LimitWatch.SECONDS_PER_MINUTE);
        limit.atATime().ifPresent(calls -> own.setWorkerTuner(null).setMaxConcurrentActivityExecutionSize(calls));
        return own.build();
    }

    /**
     * Builds a worker. Every setting has a default: no agents, no tools in Java, task queue {@code waymark}, and the
     * providers of {@link ModelProviders#fromEnvironment}.
     */
    public static final class Builder {

        private final WorkflowClient client;
        private final List<Agent> own = new ArrayList<>();
        private final Map<String, ModelProvider> added = new LinkedHashMap<>();
        private final List<WorkerInterceptor> interceptors = new ArrayList<>();
        private UnaryOperator<WorkerOptions.Builder> customization = UnaryOperator.identity();
        private UnaryOperator<WorkerFactoryOptions.Builder> factoryCustomization = UnaryOperator.identity();
        private String taskQueue = WireNames.TASK_QUEUE;
        private AgentDirectory agents = AgentDirectory.of(Path.of("."), List.of());
        private Optional<ModelProviders> providers = Optional.empty();
        private JavaTools tools = JavaTools.NONE;
        private final List<CallJudge> judges = new ArrayList<>();
        /** By default, a registry that discards everything. */
        private MeterRegistry metrics = new CompositeMeterRegistry();

        private Optional<WorkerDeploymentVersion> deployment = Optional.empty();
        private boolean pinned;
        private Optional<Path> journal = Optional.empty();
        private ServiceLimits limits = ServiceLimits.NONE;
        private Receivers receivers = Receivers.NONE;
        private boolean nexus;

        private Builder(WorkflowClient client) {
            this.client = client;
        }

        /** Sets the task queue to poll. */
        public Builder taskQueue(String name) {
            this.taskQueue = name;
            return this;
        }

        /** Adds agents defined in Java, with their tools. */
        public Builder agent(Agent... all) {
            own.addAll(List.of(all));
            return this;
        }

        /** Sets the agents of a directory of agent files. */
        public Builder agents(AgentDirectory directory) {
            this.agents = directory;
            return this;
        }

        /** Sets agents by their specifications, instead of agent files. Their programs run in the current directory. */
        public Builder agents(AgentSpec... specs) {
            return agents(AgentDirectory.of(Path.of("."), List.of()).plus(List.of(specs)));
        }

        /** Adds a model provider. Replaces an existing provider with this name. */
        public Builder provider(String name, ModelProvider provider) {
            added.put(name, provider);
            return this;
        }

        /** Sets the model providers to use instead of those from the environment. */
        public Builder providers(ModelProviders known) {
            this.providers = Optional.of(known);
            return this;
        }

        /** Sets the Java tools that agent files can refer to in {@code use:}. */
        public Builder tools(JavaTools known) {
            this.tools = known;
            return this;
        }

        /**
         * Adds judges that decide which calls of a tool need approval. They apply to agents of files and of Java, and
         * to threads that begin from now on.
         */
        public Builder judges(CallJudge... all) {
            judges.addAll(List.of(all));
            return this;
        }

        /** Sets the registry for metrics of turns, model calls, tool calls and waits for people. Default: none. */
        public Builder metrics(MeterRegistry registry) {
            this.metrics = registry;
            return this;
        }

        /**
         * Makes the worker a version of a worker deployment: it takes work only while this version is current or being
         * ramped up on the server, or while {@linkplain #pinned pinned} threads are on it. Open threads move to a new
         * version automatically. Default: no deployment.
         *
         * @param name the deployment; a build id within it names the version
         */
        public Builder deployment(String name, String buildId) {
            this.deployment = Optional.of(new WorkerDeploymentVersion(name, buildId));
            return this;
        }

        /**
         * Pins threads to the version of the {@link #deployment} that executes them. When another version is current, a
         * thread moves to it between two steps, as soon as something happens in it, and begins a new run there: no
         * build replays what another build has decided. Keep the workers of a version until no thread is pinned to it.
         * Needs a Temporal server from 1.31 on. Default: not pinned; the current version continues the open runs.
         */
        public Builder pinned() {
            this.pinned = true;
            return this;
        }

        /**
         * Sets the directory for small notes about running calls with side effects. If the worker is killed, the next
         * worker of this host with the same directory reports these calls as soon as it starts, instead of 15 s after
         * the last heartbeat and up to 20 s of waiting for a late report. Needs Linux and a local file system; without
         * them, or if the directory cannot be used, a warning is logged once. Default: no journal.
         */
        public Builder journal(Path directory) {
            this.journal = Optional.of(directory);
            return this;
        }

        /**
         * Sets the limits of model services. All workers of a task queue need the same ones. Default: none, and model
         * calls are limited like other activities.
         */
        @Internal
        public Builder limits(ServiceLimits all) {
            this.limits = all;
            return this;
        }

        /** Sets the receivers of announcements, by the names that agents use. Default: none. */
        public Builder receivers(Receivers all) {
            this.receivers = all;
            return this;
        }

        /**
         * Offers the agents to workflows of other programs, as the Nexus service {@link AgentService}. An endpoint of the
         * server has to name this worker's namespace and task queue. Default: not offered.
         */
        public Builder nexus() {
            this.nexus = true;
            return this;
        }

        /**
         * Adds interceptors of the Temporal SDK, such as tracing interceptors. They also run inside workflows, where
         * their code must be deterministic.
         */
        public Builder interceptors(WorkerInterceptor... all) {
            interceptors.addAll(List.of(all));
            return this;
        }

        /**
         * Changes options of the Temporal worker, such as the number of pollers, the concurrency limits, or the tuner
         * that sets these limits. The defaults for unset options depend on the number of processors.
         */
        public Builder workerOptions(UnaryOperator<WorkerOptions.Builder> change) {
            UnaryOperator<WorkerOptions.Builder> before = customization;
            customization = options -> change.apply(before.apply(options));
            return this;
        }

        /** Changes options of the Temporal worker factory, such as the number of workflows that are kept in memory. */
        public Builder factoryOptions(UnaryOperator<WorkerFactoryOptions.Builder> change) {
            UnaryOperator<WorkerFactoryOptions.Builder> before = factoryCustomization;
            factoryCustomization = options -> change.apply(before.apply(options));
            return this;
        }

        /**
         * Builds the worker. Connects to the server to find out whether the server is the in-memory server.
         *
         * @throws IllegalArgumentException if an agent in Java is invalid, if a deployment is set for the in-memory
         * server, if threads are pinned without a deployment or on a server that is too old, or if the task queue's
         * name is too long for limits
         * @throws ConnectionException if the server does not answer
         */
        public AgentWorker build() {
            ModelProviders known =
                    providers.orElseGet(ModelProviders::fromEnvironment).plus(added);
            own.forEach(agent -> check(agent.spec(), known));
            providers = Optional.of(known);
            own.forEach(agent -> tools = tools.plus(agent.name(), agent.tools()));
            agents = agents.plus(own.stream().map(Agent::spec).toList());
            return new AgentWorker(this);
        }

        /** Applies checks to an agent in Java that agents of files must also pass. */
        private static void check(AgentSpec agent, ModelProviders providers) {
            new ModelChecks(providers).problem(agent).ifPresent(words -> {
                throw new IllegalArgumentException("agent " + agent.name() + ": " + words);
            });
        }
    }
}
