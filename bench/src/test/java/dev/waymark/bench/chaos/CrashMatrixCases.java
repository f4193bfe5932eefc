package dev.waymark.bench.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.testkit.crash.CrashPoint;
import dev.waymark.worker.server.DevServer;
import java.nio.file.Path;
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
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Disrupts runs, and checks that no effect happens twice, is lost, or is reported falsely. All runs take place
 * concurrently, because they mostly wait; each test checks one run. Subclasses supply the server and the runs.
 */
@TestInstance(Lifecycle.PER_CLASS)
abstract class CrashMatrixCases {
    /** The points at which a lost worker's call is certainly claimed and its outcome certainly not recorded. */
    private static final Set<CrashPoint> CLAIMED = EnumSet.of(
            CrashPoint.AFTER_CLAIM, CrashPoint.MID_EFFECT, CrashPoint.AFTER_EFFECT, CrashPoint.BEFORE_COMPLETION);

    /** All points except those that only threads with a subagent or fused steps pass. */
    static final Set<CrashPoint> POINTS =
            EnumSet.complementOf(EnumSet.of(CrashPoint.SUBAGENT_STARTED, CrashPoint.REPLY_SAVED));

    private final ExecutorService directors = Executors.newCachedThreadPool();
    private final Map<ChaosRun, CompletableFuture<RunResult>> results = new LinkedHashMap<>();
    private DevServer server;
    private ChaosStage stage;

    abstract DevServer server() throws Exception;

    /** Executes the runs by calling {@link #play(List)}. */
    abstract void playAll();

    @BeforeAll
    void start(@TempDir Path directory) throws Exception {
        server = server();
        stage = ChaosStage.open(server.address(), directory);
        playAll();
    }

    /** Executes runs with the same disruption, in groups that share a worker process. The groups run concurrently. */
    final void play(List<ChaosRun> runs) {
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

    /**
     * Each run calls its model at least twice: for the tool calls, and again with their results. A worker that is
     * killed during a model call adds another one.
     */
    final void assertAskedByARunAtEveryPoint(ModelWire wire) {
        List<ChaosRun> runs = runs().filter(run -> run.wire() == wire).toList();
        runs.forEach(run -> results.get(run).join());

        assertThat(runs).hasSameSizeAs(POINTS);
        assertThat(stage.services().asked(wire)).isGreaterThanOrEqualTo(2 * runs.size());
        assertThat(stage.services().complaints()).isEmpty();
    }
}
