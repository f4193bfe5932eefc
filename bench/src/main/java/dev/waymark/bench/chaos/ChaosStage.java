package dev.waymark.bench.chaos;

import dev.waymark.client.AgentClient;
import dev.waymark.connect.Connection;
import dev.waymark.connect.ServerUnreachable;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.message.Ack;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.OpenRequest;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.IdempotencyKey;
import dev.waymark.conversation.value.Usage;
import dev.waymark.history.HistoryReader;
import dev.waymark.history.HistoryReplay;
import dev.waymark.history.Moment;
import dev.waymark.history.Timeline;
import dev.waymark.testkit.EffectLedger;
import dev.waymark.testkit.HistoryCheck;
import dev.waymark.testkit.crash.Crash;
import dev.waymark.testkit.crash.EffectCheck;
import dev.waymark.testkit.crash.Fault;
import dev.waymark.testkit.crash.WorkerProcess;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.workflow.AgentReplay;
import io.temporal.client.WorkflowException;
import io.temporal.client.WorkflowOptions;
import io.temporal.common.WorkflowExecutionHistory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/** Executes runs: with a server, the ledger of real effects, and workers that die. Thread-safe. */
public final class ChaosStage implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final Duration PAUSE = Duration.ofMillis(500);
    /** What a worker does when its host continues, it does within this time. */
    private static final Duration LATE = Duration.ofSeconds(5);
    /** More JVMs that start concurrently would only slow each other down. */
    private static final int STARTING_AT_ONCE = 2;

    private static final Path BROKEN = Path.of("target", "broken-histories");

    private final Path directory;
    private final Connection connection;
    private final AgentClient client;
    private final HistoryReader histories;
    private final EffectLedger ledger;
    private final FailingGateway gateway;
    private final AgentReplay replay = new AgentReplay();
    private final ChaosModels services = ChaosModels.open();
    /** The keys of all calls in threads of finished runs. */
    private final Set<String> known = ConcurrentHashMap.newKeySet();

    private final Semaphore starting = new Semaphore(STARTING_AT_ONCE);
    private final ExecutorService people = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "people");
        thread.setDaemon(true);
        return thread;
    });

    private ChaosStage(Path directory, Connection connection) {
        this.directory = directory;
        this.connection = connection;
        this.client = AgentClient.connect(connection.address());
        this.histories = new HistoryReader(connection.client());
        this.ledger = EffectLedger.open(directory.resolve("ledger"));
        this.gateway = FailingGateway.open(ledger.port());
    }

    /** @param directory an empty directory for the ledger and the witnesses of crashes */
    public static ChaosStage open(String serverAddress, Path directory) throws ServerUnreachable {
        return new ChaosStage(directory, Connection.to(serverAddress));
    }

    /** The model services of the wires. */
    ChaosModels services() {
        return services;
    }

    /** The environment variables with which tools and models of workers in any process find their services. */
    private Map<String, String> environment() {
        Map<String, String> environment = new LinkedHashMap<>(services.environment());
        environment.putAll(gateway.environment());
        environment.put(ToolVariant.LEDGER_PORT, Integer.toString(ledger.port()));
        return environment;
    }

    /** Executes these runs concurrently, with a worker each in one process, so that the process dies once for all. */
    public List<RunResult> play(List<ChaosRun> runs) throws IOException, InterruptedException {
        if (runs.get(0).scene() == Scene.FROZEN) {
            return playFrozen(runs);
        }
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
            List<RunResult> results = new ArrayList<>();
            for (ChaosRun run : runs) {
                results.add(result(run));
            }
            return results;
        } finally {
            survivors.forEach(AgentWorker::close);
        }
    }

    private AgentWorker survivor(ChaosRun run) {
        AgentWorker worker = ChaosAgents.worker(connection.client(), run.id(), environment());
        worker.start();
        return worker;
    }

    private List<RunResult> playFrozen(List<ChaosRun> runs) throws IOException, InterruptedException {
        List<RunResult> results = new ArrayList<>();
        for (ChaosRun run : runs) {
            results.add(playFrozen(run));
        }
        return results;
    }

    /** In a process of its own, which is suspended as a whole. */
    private RunResult playFrozen(ChaosRun run) throws IOException, InterruptedException {
        Path witness = witness(run, 0);
        ChaosWorker.Role role = new ChaosWorker.Role(run.id(), run.faults().get(0), witness);
        try (WorkerProcess frozen =
                ChaosWorker.start(connection.address(), environment(), ChaosWorker.Ending.SUSPENDED, List.of(role))) {
            start(run);
            await(() -> isDead(run, 0) || isOver(run));
            try (AgentWorker survivor = survivor(run)) {
                await(() -> isOver(run));
                frozen.resume();
                TimeUnit.NANOSECONDS.sleep(LATE.toNanos());
                return result(run);
            }
        }
    }

    private static int mostFaults(List<ChaosRun> runs) {
        return runs.stream().mapToInt(run -> run.faults().size()).max().orElse(0);
    }

    /** Lets the workers of one process run until all are dead or idle. */
    private void kill(List<ChaosRun> runs, int round) throws IOException, InterruptedException {
        List<ChaosRun> dying =
                runs.stream().filter(run -> run.faults().size() > round).toList();
        List<ChaosWorker.Role> roles = new ArrayList<>();
        for (ChaosRun run : dying) {
            Fault fault = run.faults().get(round);
            roles.add(new ChaosWorker.Role(run.id(), fault, witness(run, round)));
        }
        starting.acquire();
        WorkerProcess victim;
        try {
            victim = ChaosWorker.start(connection.address(), environment(), ChaosWorker.Ending.KILLED, roles);
        } finally {
            starting.release();
        }
        try (victim) {
            if (round == 0) {
                dying.forEach(this::start);
            }
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            while (!victim.diesWithin(PAUSE)
                    && System.nanoTime() < deadline
                    && !dying.stream().allMatch(run -> isDead(run, round) || (round > 0 && isOver(run)))) {
                // Some are still working.
            }
        }
    }

    private Path witness(ChaosRun run, int round) {
        return directory.resolve(run.id() + "-" + round);
    }

    private boolean isDead(ChaosRun run, int round) {
        return Crash.witnessed(witness(run, round)).isPresent();
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
        people.execute(() -> speak(run));
    }

    /** Sends the task, and approves what needs approval, as often as necessary. */
    private void speak(ChaosRun run) {
        Set<String> asked = ConcurrentHashMap.newKeySet();
        try {
            await(() -> {
                Optional<Conversation> state = histories.read(run.id()).map(Timeline::now);
                if (state.isEmpty() || state.get().turn().number() == 0) {
                    send(run, asked, WireNames.SAY, run.scene().firstWords());
                    return false;
                }
                for (OpenRequest ask : state.get().asks()) {
                    send(run, asked, WireNames.APPROVE, Map.of("callId", ask.callId(), "by", "ann"));
                }
                return !run.isApproved() || !state.get().turn().isRunning();
            });
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Sends in a thread of its own, since there may be no worker to answer; the same message is not sent twice at a
     * time.
     */
    private void send(ChaosRun run, Set<String> asked, String update, Object payload) {
        if (asked.add(update + payload)) {
            people.execute(() -> {
                try {
                    connection.client().newUntypedWorkflowStub(run.id()).update(update, Ack.class, payload);
                } catch (WorkflowException e) {
                    // Its worker died, or another decision was first. History tells which.
                } finally {
                    asked.remove(update + payload);
                }
            });
        }
    }

    private RunResult result(ChaosRun run) throws InterruptedException {
        List<String> violations = new ArrayList<>();
        if (!await(() -> isOver(run))) {
            violations.add("the turn does not end");
        }
        Timeline root = histories.read(run.id()).orElseThrow();
        Timeline timeline = histories.read(run.scene().callingThread(run.id())).orElseThrow();
        List<Instant> killed = IntStream.range(0, run.faults().size())
                .mapToObj(round -> Crash.witnessed(witness(run, round)))
                .flatMap(Optional::stream)
                .toList();
        EffectCheck effects = EffectCheck.of(
                timeline, ledger.effects(), run.kind().isAlwaysUnknown() ? List.of(Instant.MAX) : killed);
        if (effects.calls() != run.calls()) {
            violations.add(effects.calls() + " calls of " + run.calls());
        }
        timeline.now().calls().forEach((id, call) -> {
            known.add(IdempotencyKey.of(
                    timeline.now().session().orElse(timeline.thread()), call.tool(), call.args(), call.repeat()));
            if (call.status() != Call.Status.COMPLETED && call.status() != Call.Status.LOST) {
                violations.add(id + " is " + call.status());
            }
        });
        violations.addAll(effects.violations());
        judge(root, violations);
        switch (run.scene()) {
            case ALONE, FROZEN -> {}
            case SUBAGENT -> {
                judge(timeline, violations);
                judgeTask(root.now(), run.scene(), violations);
            }
            case SUMMARY -> judgeSummaries(root, violations);
        }
        Duration recovery = killed.isEmpty()
                ? Duration.ZERO
                : Duration.between(
                        killed.get(killed.size() - 1),
                        root.moments().get(root.moments().size() - 1).at());
        connection.client().newUntypedWorkflowStub(run.id()).terminate("played");
        return new RunResult(run, killed.size(), effects, recovery, violations);
    }

    private void judge(Timeline timeline, List<String> violations) {
        String thread = timeline.thread();
        Turn.Status status = timeline.now().turn().status();
        if (status != Turn.Status.COMPLETE) {
            violations.add("the turn of " + thread + " is " + status);
        }
        violations.addAll(client.inspector().verify(thread).differences());
        timeline.moments().stream().map(Moment::runId).distinct().forEach(id -> replay(thread, id, violations));
    }

    /** Checks that the task was given once and executed, and that its cost is counted once in the parent. */
    private static void judgeTask(Conversation above, Scene scene, List<String> violations) {
        Map<String, Call.Status> calls = new LinkedHashMap<>();
        above.calls().forEach((id, call) -> calls.put(id, call.status()));
        if (!calls.equals(Map.of(Scene.TASK, Call.Status.COMPLETED))) {
            violations.add("above there is " + calls);
        }
        Usage all = IntStream.range(0, scene.modelCalls())
                .mapToObj(call -> ChaosAgents.USAGE)
                .reduce(Usage.NONE, Usage::plus);
        if (!above.usage().equals(all)) {
            violations.add("above " + above.usage() + " is counted, of " + all);
        }
    }

    private static void judgeSummaries(Timeline timeline, List<String> violations) {
        long summaries = timeline.moments().stream()
                .flatMap(moment -> moment.fact().stream())
                .filter(ModelFact.Summarised.class::isInstance)
                .count();
        if (summaries != Scene.SUMMARIES) {
            violations.add(summaries + " summaries of " + Scene.SUMMARIES);
        }
    }

    /** Effects of calls that no thread knows, after all runs. */
    List<EffectLedger.Effect> strays() {
        return ledger.effects().stream()
                .filter(effect -> !known.contains(effect.key()))
                .toList();
    }

    private void replay(String thread, String runId, List<String> violations) {
        WorkflowExecutionHistory history = connection.client().fetchHistory(thread, runId);
        Optional<String> problem = replay.replay(history).map(HistoryReplay.Failure::message);
        try {
            HistoryCheck.check(history);
        } catch (AssertionError e) {
            problem = Optional.of(e.toString());
        }
        problem.ifPresent(
                found -> violations.add("history of " + runId + ", kept as " + keep(history, runId) + ": " + found));
    }

    /** Keeps the history of a run that went wrong: the run itself may never go wrong again. */
    private static Path keep(WorkflowExecutionHistory history, String runId) {
        Path file = BROKEN.resolve(runId + ".json");
        try {
            Files.createDirectories(BROKEN);
            Files.writeString(file, history.toJson(true));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return file;
    }

    private boolean isOver(ChaosRun run) {
        return histories
                .read(run.id())
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
        replay.close();
        services.close();
        gateway.close();
        ledger.close();
        client.close();
        connection.close();
    }
}
