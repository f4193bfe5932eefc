package dev.waymark.bench.chaos;

import static dev.waymark.testkit.crash.CrashPoint.AFTER_CLAIM;
import static dev.waymark.testkit.crash.CrashPoint.AFTER_COMPLETION;
import static dev.waymark.testkit.crash.CrashPoint.AFTER_EFFECT;
import static dev.waymark.testkit.crash.CrashPoint.APPROVAL_ACCEPTED;
import static dev.waymark.testkit.crash.CrashPoint.BEFORE_CLAIM;
import static dev.waymark.testkit.crash.CrashPoint.BEFORE_COMPLETION;
import static dev.waymark.testkit.crash.CrashPoint.BEFORE_TOOL_POLL;
import static dev.waymark.testkit.crash.CrashPoint.CONTINUED_AS_NEW;
import static dev.waymark.testkit.crash.CrashPoint.MESSAGE_ACCEPTED;
import static dev.waymark.testkit.crash.CrashPoint.MID_EFFECT;
import static dev.waymark.testkit.crash.CrashPoint.MODEL_REPLIED;
import static dev.waymark.testkit.crash.CrashPoint.MODEL_REQUESTED;
import static dev.waymark.testkit.crash.CrashPoint.REPLY_SAVED;
import static dev.waymark.testkit.crash.CrashPoint.SUBAGENT_STARTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.testkit.crash.CrashPoint;
import dev.waymark.testkit.crash.Fault;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Disrupts 55 runs on the real server, and checks that no effect happens twice, is lost, or is reported falsely. A run
 * is here only if it differs from all others in what is lost: between the claim and the completion of a call that is
 * what its tool can say about a lost call, elsewhere the point alone. {@code bench/chaos} has the random ones. All runs
 * take place concurrently, because they mostly wait; each test checks one run.
 */
@Tag("server")
@Tag("full")
@TestInstance(Lifecycle.PER_CLASS)
class CrashMatrixServerTest {
    /** The points at which a lost worker's call is certainly claimed and its outcome certainly not recorded. */
    private static final Set<CrashPoint> CLAIMED = EnumSet.of(AFTER_CLAIM, MID_EFFECT, AFTER_EFFECT, BEFORE_COMPLETION);

    private static final Duration MIDDLE_OF_PROGRAM = Duration.ofMillis(300);

    private final ExecutorService directors = Executors.newCachedThreadPool();
    private final Map<ChaosRun, CompletableFuture<RunResult>> results = new LinkedHashMap<>();
    private DevServer server;
    private ChaosStage stage;

    @BeforeAll
    void start(@TempDir Path directory) throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        assumeTrue(binary.isPresent(), "no temporal binary: tests on the real server are skipped");
        server = DevServer.temporal(binary.get(), Optional.empty(), 0, 0);
        stage = ChaosStage.open(server.address(), directory);
        play(Stream.of(javaTools(), programs(), fusedSteps(), scenes())
                .flatMap(List::stream)
                .toList());
        play(disrupted(Disruption.HOST_FROZEN, ToolVariant.EFFECT, ToolVariant.VERIFIED_COMMAND));
        play(disrupted(Disruption.SERVER_AWAY, ToolVariant.EFFECT, ToolVariant.VERIFIED));
        play(disrupted(Disruption.RESUMED_TWICE, ToolVariant.EFFECT, ToolVariant.VERIFIED_COMMAND));
    }

    /** Every point of a thread, and around the calls, every tool. Each wire has a run at every point around a model call. */
    private static List<ChaosRun> javaTools() {
        List<ChaosRun> runs = new ArrayList<>();
        for (CrashPoint point :
                EnumSet.of(MESSAGE_ACCEPTED, BEFORE_TOOL_POLL, AFTER_COMPLETION, APPROVAL_ACCEPTED, CONTINUED_AS_NEW)) {
            runs.add(four(ToolVariant.EFFECT, point));
        }
        for (CrashPoint point : EnumSet.of(MODEL_REQUESTED, MODEL_REPLIED)) {
            runs.add(four(ToolVariant.EFFECT, point).over(ModelWire.ANTHROPIC));
            runs.add(four(ToolVariant.VERIFIED, point).over(ModelWire.OPENAI));
        }
        for (CrashPoint point : EnumSet.of(BEFORE_CLAIM, AFTER_CLAIM, MID_EFFECT, AFTER_EFFECT, BEFORE_COMPLETION)) {
            runs.add(four(ToolVariant.EFFECT, point).over(ModelWire.ANTHROPIC));
            runs.add(four(ToolVariant.VERIFIED, point).over(ModelWire.OPENAI));
            runs.add(four(ToolVariant.SAFE, point));
        }
        runs.add(ChaosRun.of(ToolVariant.EFFECT, 1, Fault.at(AFTER_CLAIM)));
        runs.add(ChaosRun.of(ToolVariant.EFFECT, 1, Fault.at(BEFORE_COMPLETION)));
        return runs;
    }

    /** Programs, whose middle cannot be observed, and tools that do not say whether a call took effect. */
    private static List<ChaosRun> programs() {
        List<ChaosRun> runs = new ArrayList<>();
        for (ToolVariant kind : List.of(ToolVariant.COMMAND, ToolVariant.VERIFIED_COMMAND)) {
            runs.add(four(kind, AFTER_CLAIM));
            runs.add(ChaosRun.of(kind, 4, Fault.at(AFTER_CLAIM).after(MIDDLE_OF_PROGRAM)));
            runs.add(four(kind, BEFORE_COMPLETION));
        }
        for (ToolVariant kind : List.of(
                ToolVariant.DYING, ToolVariant.VERIFIED_DYING, ToolVariant.FAILING, ToolVariant.VERIFIED_FAILING)) {
            runs.add(four(kind, BEFORE_COMPLETION));
        }
        return runs;
    }

    /** Steps whose calls run with the model call. Before the reply, they do not differ from others. */
    private static List<ChaosRun> fusedSteps() {
        List<ChaosRun> runs = new ArrayList<>();
        for (CrashPoint point : EnumSet.of(
                MODEL_REPLIED,
                REPLY_SAVED,
                AFTER_CLAIM,
                MID_EFFECT,
                AFTER_EFFECT,
                BEFORE_COMPLETION,
                AFTER_COMPLETION)) {
            runs.add(four(ToolVariant.FUSED, point));
        }
        runs.add(ChaosRun.of(ToolVariant.FUSED, 1, Fault.at(AFTER_CLAIM)));
        return runs;
    }

    private static List<ChaosRun> scenes() {
        return List.of(
                four(ToolVariant.EFFECT, SUBAGENT_STARTED).in(Scene.SUBAGENT),
                four(ToolVariant.EFFECT, AFTER_CLAIM).in(Scene.SUBAGENT),
                lastReply(Scene.SUBAGENT),
                four(ToolVariant.EFFECT, MODEL_REPLIED).in(Scene.SUMMARY),
                lastReply(Scene.SUMMARY));
    }

    private static ChaosRun lastReply(Scene scene) {
        return ChaosRun.of(ToolVariant.EFFECT, 4, Fault.at(MODEL_REPLIED).passing(scene.modelCalls()))
                .in(scene);
    }

    private static List<ChaosRun> disrupted(Disruption disruption, ToolVariant unknowing, ToolVariant verified) {
        return List.of(
                four(unknowing, AFTER_CLAIM).with(disruption),
                four(verified, BEFORE_COMPLETION).with(disruption));
    }

    private static ChaosRun four(ToolVariant kind, CrashPoint point) {
        return ChaosRun.of(kind, 4, Fault.at(point));
    }

    /** Executes runs with the same disruption, in groups that share a worker process. The groups run concurrently. */
    private void play(List<ChaosRun> runs) {
        int together = runs.get(0).disruption().together();
        for (int from = 0; from < runs.size(); from += together) {
            playTogether(List.copyOf(runs.subList(from, Math.min(runs.size(), from + together))));
        }
    }

    private void playTogether(List<ChaosRun> runs) {
        CompletableFuture<List<RunResult>> played = new CompletableFuture<>();
        directors.execute(() -> {
            try {
                played.complete(stage.play(runs));
            } catch (Throwable e) {
                played.completeExceptionally(e);
            }
        });
        for (int i = 0; i < runs.size(); i++) {
            int number = i;
            results.put(runs.get(i), played.thenApply(all -> all.get(number)));
        }
    }

    @AfterAll
    void close() {
        directors.shutdownNow();
        if (stage != null) {
            stage.close();
        }
        if (server != null) {
            server.close();
        }
    }

    Stream<ChaosRun> runs() {
        return results.keySet().stream();
    }

    @ParameterizedTest
    @MethodSource("runs")
    void disruptedRun_keepsAllGuarantees(ChaosRun run) {
        RunResult result = results.get(run).join();

        assertThat(result.violations()).as("%s", run).isEmpty();
        assertThat(result.fired()).as("disruptions of %s", run).isEqualTo(1);
        if (run.kind().isUnknownWhenLost()
                && run.disruption().losesOutcomes()
                && CLAIMED.contains(run.faults().get(0).point())) {
            assertThat(result.effects().unknown()).isPositive();
        }
    }

    @Test
    void effects_withoutARecordedCall_doNotExist() {
        results.values().forEach(CompletableFuture::join);

        assertThat(stage.strays()).isEmpty();
    }

    @Test
    void everyPointAndTool_isDisruptedInSomeRun() {
        assertThat(runs().map(run -> run.faults().get(0).point())).contains(CrashPoint.values());
        assertThat(runs().map(ChaosRun::kind)).contains(ToolVariant.values());
        assertThat(runs().map(ChaosRun::disruption)).contains(Disruption.values());
    }

    /** Each run calls its model at least twice: for the tool calls, and again with their results. */
    @ParameterizedTest
    @EnumSource(names = {"ANTHROPIC", "OPENAI"})
    void modelServers_areCalledByEveryRunAndRejectNothing(ModelWire wire) {
        List<ChaosRun> runs = runs().filter(run -> run.wire() == wire).toList();
        runs.forEach(run -> results.get(run).join());

        assertThat(runs).hasSizeGreaterThanOrEqualTo(7);
        assertThat(stage.services().asked(wire)).isGreaterThanOrEqualTo(2 * runs.size());
        assertThat(stage.services().complaints()).isEmpty();
    }
}
