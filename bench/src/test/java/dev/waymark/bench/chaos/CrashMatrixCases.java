package dev.waymark.bench.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.testkit.crash.CrashPoint;
import dev.waymark.testkit.crash.Fault;
import dev.waymark.worker.server.DevServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Kills a worker process at every crash point with every Java tool, and at five points around the calls of programs,
 * each with one call and with four calls at once. At every point, one run calls its model over each wire. At some
 * points, runs take place in a subagent's thread or around summaries, or their tools do not report whether they took
 * effect. At three points from before the claim to before the completion, other runs freeze the host, disconnect the
 * server, or terminate a thread that several clients then resume. All runs take place concurrently, because they mostly
 * wait; each test checks one run. Subclasses supply the server.
 */
@TestInstance(Lifecycle.PER_CLASS)
abstract class CrashMatrixCases {
    private static final List<ToolVariant> JAVA = List.of(ToolVariant.EFFECT, ToolVariant.VERIFIED, ToolVariant.SAFE);
    private static final List<ToolVariant> COMMANDS = List.of(ToolVariant.COMMAND, ToolVariant.VERIFIED_COMMAND);
    /** Tools that do not report whether a call took effect, even if no worker is lost. */
    private static final List<ToolVariant> AMBIGUOUS =
            List.of(ToolVariant.DYING, ToolVariant.VERIFIED_DYING, ToolVariant.FAILING, ToolVariant.VERIFIED_FAILING);

    /** Tools whose outcomes a disruption can hide. */
    private static final List<ToolVariant> LOSABLE =
            List.of(ToolVariant.EFFECT, ToolVariant.VERIFIED, ToolVariant.COMMAND, ToolVariant.VERIFIED_COMMAND);

    private static final Duration MIDDLE_OF_COMMAND = Duration.ofMillis(300);
    /** The points at which a lost worker's call is certainly claimed and its outcome certainly not recorded. */
    private static final Set<CrashPoint> CLAIMED = EnumSet.of(
            CrashPoint.AFTER_CLAIM, CrashPoint.MID_EFFECT, CrashPoint.AFTER_EFFECT, CrashPoint.BEFORE_COMPLETION);

    /** All points except the one that only threads with a subagent pass. */
    private static final Set<CrashPoint> POINTS = EnumSet.complementOf(EnumSet.of(CrashPoint.SUBAGENT_STARTED));

    private final ExecutorService directors = Executors.newCachedThreadPool();
    private final Map<ChaosRun, CompletableFuture<RunResult>> results = new LinkedHashMap<>();
    private DevServer server;
    private ChaosStage stage;

    abstract DevServer server() throws Exception;

    @BeforeAll
    void play(@TempDir Path directory) throws Exception {
        server = server();
        stage = ChaosStage.open(server.address(), directory);
        for (CrashPoint point : POINTS) {
            List<ChaosRun> runs = new ArrayList<>();
            for (ToolVariant kind : JAVA) {
                for (int calls : ChaosAgents.CALLS) {
                    runs.add(ChaosRun.of(kind, calls, Fault.at(point)).over(wire(kind, calls)));
                }
            }
            play(runs);
        }
        playCommands(CrashPoint.BEFORE_TOOL_POLL);
        playCommands(CrashPoint.BEFORE_CLAIM);
        playCommands(CrashPoint.AFTER_CLAIM);
        playCommands(CrashPoint.BEFORE_COMPLETION);
        playCommands(CrashPoint.AFTER_COMPLETION);
        playAmbiguous();
        playScenes();
        playDisruption(Disruption.HOST_FROZEN, List.of(ToolVariant.EFFECT, ToolVariant.VERIFIED_COMMAND));
        playDisruption(Disruption.SERVER_AWAY, LOSABLE);
        playDisruption(Disruption.RESUMED_TWICE, LOSABLE);
    }

    /**
     * Returns the wire of a run. Tools do not depend on the wire, so each wire gets only the runs with four calls of
     * one tool.
     */
    private static ModelWire wire(ToolVariant kind, int calls) {
        if (calls == 1) {
            return ModelWire.NONE;
        }
        return kind == ToolVariant.EFFECT
                ? ModelWire.ANTHROPIC
                : kind == ToolVariant.VERIFIED ? ModelWire.OPENAI : ModelWire.NONE;
    }

    private void playCommands(CrashPoint point) {
        List<ChaosRun> runs = new ArrayList<>();
        for (ToolVariant kind : COMMANDS) {
            for (int calls : ChaosAgents.CALLS) {
                runs.add(ChaosRun.of(kind, calls, Fault.at(point)));
                if (point == CrashPoint.AFTER_CLAIM) {
                    runs.add(ChaosRun.of(kind, calls, Fault.at(point).after(MIDDLE_OF_COMMAND)));
                }
            }
        }
        play(runs);
    }

    private void playAmbiguous() {
        List<ChaosRun> runs = new ArrayList<>();
        for (ToolVariant kind : AMBIGUOUS) {
            runs.add(ChaosRun.of(kind, 4, Fault.at(CrashPoint.AFTER_CLAIM)));
            runs.add(ChaosRun.of(kind, 4, Fault.at(CrashPoint.BEFORE_COMPLETION)));
        }
        play(runs);
    }

    private void playScenes() {
        play(List.of(
                in(Scene.SUBAGENT, Fault.at(CrashPoint.SUBAGENT_STARTED)),
                in(Scene.SUBAGENT, Fault.at(CrashPoint.AFTER_CLAIM)),
                in(Scene.SUBAGENT, lastReply(Scene.SUBAGENT)),
                in(Scene.SUMMARY, Fault.at(CrashPoint.MODEL_REPLIED)),
                in(Scene.SUMMARY, Fault.at(CrashPoint.AFTER_CLAIM)),
                in(Scene.SUMMARY, lastReply(Scene.SUMMARY))));
    }

    private static ChaosRun in(Scene scene, Fault fault) {
        return ChaosRun.of(ToolVariant.EFFECT, 4, fault).in(scene);
    }

    private static Fault lastReply(Scene scene) {
        return Fault.at(CrashPoint.MODEL_REPLIED).passing(scene.modelCalls());
    }

    private void playDisruption(Disruption disruption, List<ToolVariant> kinds) {
        List<ChaosRun> runs = new ArrayList<>();
        for (ToolVariant kind : kinds) {
            for (CrashPoint point :
                    List.of(CrashPoint.BEFORE_CLAIM, CrashPoint.AFTER_CLAIM, CrashPoint.BEFORE_COMPLETION)) {
                runs.add(ChaosRun.of(kind, 4, Fault.at(point)).with(disruption));
            }
        }
        for (int from = 0; from < runs.size(); from += disruption.together()) {
            play(runs.subList(from, Math.min(runs.size(), from + disruption.together())));
        }
    }

    private void play(List<ChaosRun> runs) {
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
    void disrupted_noEffectTwiceNoneLostAndNothingClaimedFalsely(ChaosRun run) {
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
    void nothing_happenedForACallThatNoThreadKnowsOf() {
        results.values().forEach(CompletableFuture::join);

        assertThat(stage.strays()).isEmpty();
    }

    /**
     * Each run calls its model at least twice: for the tool calls, and again with their results. A worker that is
     * killed during a model call adds another one.
     */
    @ParameterizedTest
    @EnumSource(names = {"ANTHROPIC", "OPENAI"})
    void modelsBehindWires_wereAskedByEveryRun_andRefusedNothing(ModelWire wire) {
        List<ChaosRun> runs = runs().filter(run -> run.wire() == wire).toList();
        runs.forEach(run -> results.get(run).join());

        assertThat(runs).hasSameSizeAs(POINTS);
        assertThat(stage.services().asked(wire)).isGreaterThanOrEqualTo(2 * runs.size());
        assertThat(stage.services().complaints()).isEmpty();
    }
}
