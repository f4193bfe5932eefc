package dev.waymark.bench.chaos;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.testkit.crash.CrashPoint;
import dev.waymark.testkit.crash.Fault;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Kills a worker process at every crash point with every Java tool, and at five points around the calls of programs,
 * each with one call and with four calls at once, and at every point of a fused step. At every point, one run calls its model over each wire. At some
 * points, runs take place in a subagent's thread or around summaries, or their tools do not report whether they took
 * effect. At three points from before the claim to before the completion, other runs freeze the host, disconnect the
 * server, or terminate a thread that several clients then resume.
 */
@Tag("server")
@Tag("full")
class CrashMatrixServerTest extends CrashMatrixCases {
    private static final List<ToolVariant> JAVA = List.of(ToolVariant.EFFECT, ToolVariant.VERIFIED, ToolVariant.SAFE);
    private static final List<ToolVariant> COMMANDS = List.of(ToolVariant.COMMAND, ToolVariant.VERIFIED_COMMAND);
    /** Tools that do not report whether a call took effect, even if no worker is lost. */
    private static final List<ToolVariant> AMBIGUOUS =
            List.of(ToolVariant.DYING, ToolVariant.VERIFIED_DYING, ToolVariant.FAILING, ToolVariant.VERIFIED_FAILING);

    /** Tools whose outcomes a disruption can hide. */
    private static final List<ToolVariant> LOSABLE =
            List.of(ToolVariant.EFFECT, ToolVariant.VERIFIED, ToolVariant.COMMAND, ToolVariant.VERIFIED_COMMAND);

    private static final Duration MIDDLE_OF_COMMAND = Duration.ofMillis(300);

    @Override
    DevServer server() throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        assumeTrue(binary.isPresent(), "no temporal binary: tests on the real server are skipped");
        return DevServer.temporal(binary.get(), Optional.empty(), 0, 0);
    }

    @Override
    void playAll() {
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
        playFused();
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

    private void playFused() {
        for (CrashPoint point : RunGenerator.FUSED) {
            play(ChaosAgents.CALLS.stream()
                    .map(calls -> ChaosRun.of(ToolVariant.FUSED, calls, Fault.at(point)))
                    .toList());
        }
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
        play(runs);
    }

    @ParameterizedTest
    @EnumSource(names = {"ANTHROPIC", "OPENAI"})
    void modelServers_areCalledByEveryRunAndRejectNothing(ModelWire wire) {
        assertAskedByARunAtEveryPoint(wire);
    }
}
