package dev.waymark.bench.chaos;

import dev.waymark.client.AgentClient;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.message.Ack;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.history.HistoryReader;
import dev.waymark.testkit.EffectLedger;
import dev.waymark.testkit.crash.Crash;
import dev.waymark.testkit.crash.WorkerProcess;
import dev.waymark.timeline.Timeline;
import dev.waymark.worker.AgentWorker;
import io.temporal.client.WorkflowException;
import io.temporal.client.WorkflowOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Executes runs on a server: starts their workers, disrupts them, and records the effects of their calls in a ledger.
 * Thread-safe.
 */
public final class ChaosStage implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final Duration PAUSE = Duration.ofMillis(500);
    /** How long a resumed worker can act before its run is judged. */
    private static final Duration LATE = Duration.ofSeconds(5);
    /** Limits the JVMs that start concurrently, because more would only slow each other down. */
    private static final int STARTING_AT_ONCE = 2;
    /** The limit of a resumed thread: more than a run needs, and different from the agents' own limit. */
    private static final int MOST_ITERATIONS = 9;

    private final Path directory;
    private final Connection connection;
    private final HistoryReader histories;
    private final EffectLedger ledger;
    private final FailingGateway gateway;
    private final RunJudge judge;
    private final ChaosModels services = ChaosModels.open();
    private final Semaphore starting = new Semaphore(STARTING_AT_ONCE);
    private final ExecutorService people = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "people");
        thread.setDaemon(true);
        return thread;
    });

    private ChaosStage(Path directory, Connection connection) {
        this.directory = directory;
        this.connection = connection;
        this.histories = new HistoryReader(connection.client());
        this.ledger = EffectLedger.open(directory.resolve("ledger"));
        this.gateway = FailingGateway.open(ledger.port());
        this.judge = new RunJudge(connection, ledger);
    }

    /** @param directory an empty directory for the ledger and the witness files of crashes */
    public static ChaosStage open(String serverAddress, Path directory) {
        return new ChaosStage(directory, Connection.to(serverAddress));
    }

    /** Returns the servers of the models behind the wires. */
    ChaosModels services() {
        return services;
    }

    /**
     * Returns the environment variables through which workers in any process find the model servers, the gateway and
     * the ledger.
     */
    private Map<String, String> environment() {
        Map<String, String> environment = new LinkedHashMap<>(services.environment());
        environment.putAll(gateway.environment());
        environment.put(ToolVariant.LEDGER_PORT, Integer.toString(ledger.port()));
        environment.put(ChaosAgents.JOURNALS, directory.toString());
        return environment;
    }

    /** Executes these runs, which must have the same disruption, as this disruption requires. */
    public List<RunResult> play(List<ChaosRun> runs) throws IOException, InterruptedException {
        return runs.get(0).disruption().play(this, runs);
    }

    /**
     * Runs the workers of all runs in one process, which is killed once the faults of all workers have fired. Runs that
     * have a further fault then get a new process, which is killed in the same way. Then workers that are not disrupted complete the turns.
     */
    List<RunResult> playKilled(List<ChaosRun> runs) throws IOException, InterruptedException {
        List<AgentWorker> survivors = new ArrayList<>();
        try {
            for (int round = 0; round < mostFaults(runs); round++) {
                kill(runs, round);
                for (ChaosRun run : runs) {
                    if (run.faults().size() == round + 1) {
                        survivors.add(survivor(run));
                    }
                }
            }
            return results(runs);
        } finally {
            survivors.forEach(AgentWorker::close);
        }
    }

    /**
     * Executes the runs one after the other. Each has a process of its own, which is suspended as a whole and resumed
     * when another worker has completed the turn.
     */
    List<RunResult> playFrozen(List<ChaosRun> runs) throws IOException, InterruptedException {
        List<RunResult> results = new ArrayList<>();
        for (ChaosRun run : runs) {
            try (WorkerProcess frozen = process(List.of(run), 0)) {
                start(run);
                await(() -> isDisrupted(run, 0) || isOver(run.id()));
                try (AgentWorker survivor = survivor(run)) {
                    await(() -> isOver(run.id()));
                    frozen.resume();
                    TimeUnit.NANOSECONDS.sleep(LATE.toNanos());
                    results.addAll(results(List.of(run)));
                }
            }
        }
        return results;
    }

    /** Runs all workers in one process that is not killed. */
    List<RunResult> playWithOneWorker(List<ChaosRun> runs) throws IOException, InterruptedException {
        try (WorkerProcess worker = process(runs, 0)) {
            runs.forEach(this::start);
            return results(runs);
        }
    }

    private List<RunResult> results(List<ChaosRun> runs) throws InterruptedException {
        List<String> threads = new ArrayList<>();
        List<List<String>> violations = new ArrayList<>();
        for (ChaosRun run : runs) {
            violations.add(new ArrayList<>());
            threads.add(run.disruption().continued(this, run, violations.get(violations.size() - 1)));
        }
        List<RunResult> results = new ArrayList<>();
        for (int i = 0; i < runs.size(); i++) {
            String thread = threads.get(i);
            if (!await(() -> isOver(thread))) {
                violations.get(i).add("the turn does not end");
            }
            results.add(judge.result(runs.get(i), thread, disrupted(runs.get(i)), violations.get(i)));
        }
        return results;
    }

    private AgentWorker survivor(ChaosRun run) {
        AgentWorker worker = ChaosAgents.worker(connection.client(), run.id(), environment());
        worker.start();
        return worker;
    }

    private static int mostFaults(List<ChaosRun> runs) {
        return runs.stream().mapToInt(run -> run.faults().size()).max().orElse(0);
    }

    /**
     * Runs a process with the workers of these runs until it dies, or until every run has been disrupted or, after the
     * first round, is over.
     */
    private void kill(List<ChaosRun> runs, int round) throws IOException, InterruptedException {
        List<ChaosRun> dying =
                runs.stream().filter(run -> run.faults().size() > round).toList();
        try (WorkerProcess victim = process(dying, round)) {
            if (round == 0) {
                dying.forEach(this::start);
            }
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            while (!victim.diesWithin(PAUSE)
                    && System.nanoTime() < deadline
                    && !dying.stream().allMatch(run -> isDisrupted(run, round) || (round > 0 && isOver(run.id())))) {
                // Some workers are still working.
            }
        }
    }

    /** Starts a process with a worker for each run. Fault number {@code round} of the run disrupts this worker. */
    private WorkerProcess process(List<ChaosRun> runs, int round) throws IOException, InterruptedException {
        List<ChaosWorker.Role> roles = runs.stream()
                .map(run -> new ChaosWorker.Role(run.id(), run.faults().get(round), witness(run, round)))
                .toList();
        starting.acquire();
        try {
            return ChaosWorker.start(
                    connection.address(), environment(), runs.get(0).disruption(), roles);
        } finally {
            starting.release();
        }
    }

    private Path witness(ChaosRun run, int round) {
        return directory.resolve(run.id() + "-" + round);
    }

    private boolean isDisrupted(ChaosRun run, int round) {
        return Crash.witnessed(witness(run, round)).isPresent();
    }

    private List<Instant> disrupted(ChaosRun run) {
        return IntStream.range(0, run.faults().size())
                .mapToObj(round -> Crash.witnessed(witness(run, round)))
                .flatMap(Optional::stream)
                .toList();
    }

    private void start(ChaosRun run) {
        WorkflowOptions options = WorkflowOptions.newBuilder()
                .setTaskQueue(run.id())
                .setWorkflowId(run.id())
                .build();
        connection
                .client()
                .newUntypedWorkflowStub(WireNames.WORKFLOW_TYPE, options)
                .start(run.start());
        people.execute(() -> speak(run, run.id()));
    }

    /** Sends the first message until the thread has a turn, and approvals until no call waits for one. */
    private void speak(ChaosRun run, String thread) {
        Set<String> asked = ConcurrentHashMap.newKeySet();
        try {
            await(() -> {
                Optional<Timeline> timeline = histories.read(thread);
                if (timeline.flatMap(Timeline::ending).isPresent()) {
                    return true;
                }
                Optional<Conversation> state = timeline.map(Timeline::now);
                if (state.isEmpty() || state.get().turn().number() == 0) {
                    send(
                            thread,
                            asked,
                            SignalNames.SAY,
                            run.scene().firstWords().payload());
                    return false;
                }
                for (PendingItem ask : state.get().asks()) {
                    send(thread, asked, SignalNames.APPROVE, Map.of("callId", ask.callId(), "by", "ann"));
                }
                return !run.isApproved() || !state.get().turn().isRunning();
            });
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Sends an update in a separate Java thread, since there may be no worker to accept it. Does nothing while an
     * identical update is still being sent.
     */
    private void send(String thread, Set<String> asked, String update, Object payload) {
        if (asked.add(update + payload)) {
            people.execute(() -> {
                try {
                    connection.client().newUntypedWorkflowStub(thread).update(update, Ack.class, payload);
                } catch (WorkflowException e) {
                    // The worker died, or another decision arrived first. The history shows whether a retry is needed.
                } finally {
                    asked.remove(update + payload);
                }
            });
        }
    }

    /**
     * Waits until the thread is terminated. Then several clients resume it at the same time, under different names and
     * with different options.
     *
     * @return the thread that continues
     */
    String resume(ChaosRun run, List<String> violations) throws InterruptedException {
        await(() -> histories.read(run.id()).flatMap(Timeline::ending).isPresent());
        ResumeOptions onward = ResumeOptions.onward().allowingVolatile();
        List<Callable<String>> requests = Stream.of(
                        onward.withThread(run.id() + "-a"),
                        onward.withThread(run.id() + "-b"),
                        onward,
                        onward.withMaxIterations(MOST_ITERATIONS))
                .<Callable<String>>map(how -> () -> AgentClient.on(connection, run.id())
                        .resume(run.id(), how)
                        .thread())
                .toList();
        Set<String> successors = new TreeSet<>();
        for (Future<String> request : people.invokeAll(requests)) {
            try {
                successors.add(request.get());
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof WaymarkException)) {
                    violations.add("resuming failed: " + e.getCause());
                }
            }
        }
        // A result with the run's own id means that its turn was complete, not that a thread continues it.
        successors.remove(run.id());
        if (successors.size() != 1) {
            violations.add("continued in " + successors);
        }
        String successor = successors.stream().findFirst().orElse(run.id());
        people.execute(() -> speak(run, successor));
        return successor;
    }

    /** Returns the effects of calls that no thread contains. To be called after all runs. */
    List<EffectLedger.Effect> strays() {
        return judge.strays();
    }

    private boolean isOver(String thread) {
        return histories
                .read(thread)
                .map(Timeline::now)
                .filter(state -> state.turn().number() > 0 && !state.turn().isRunning())
                .isPresent();
    }

    private static boolean await(BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                return false;
            }
            TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
        }
        return true;
    }

    @Override
    public void close() {
        people.shutdownNow();
        judge.close();
        services.close();
        gateway.close();
        ledger.close();
        connection.close();
    }
}
