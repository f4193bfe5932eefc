package dev.waymark.bench.chaos;

import dev.waymark.testkit.crash.CrashPoint;
import dev.waymark.testkit.crash.Fault;
import dev.waymark.worker.server.DevServer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;

/**
 * Runs each crash point, scene and disruption once on the in-memory server, which redelivers the tasks of a lost worker
 * in another order and at other times than the real one. Variants of tools and wires do not depend on the server, and
 * are in {@link CrashMatrixServerTest}.
 */
@Tag("full")
class CrashMatrixTest extends CrashMatrixCases {
    @Override
    DevServer server() throws Exception {
        return DevServer.inMemory(0);
    }

    @Override
    void playAll() {
        List<ChaosRun> runs = new ArrayList<>();
        for (CrashPoint point : POINTS) {
            runs.add(ChaosRun.of(ToolVariant.EFFECT, 4, Fault.at(point)));
        }
        runs.add(ChaosRun.of(ToolVariant.EFFECT, 4, Fault.at(CrashPoint.SUBAGENT_STARTED))
                .in(Scene.SUBAGENT));
        runs.add(claimed(ToolVariant.EFFECT).in(Scene.SUMMARY));
        for (CrashPoint point : RunGenerator.FUSED) {
            runs.add(ChaosRun.of(ToolVariant.FUSED, 4, Fault.at(point)));
        }
        play(runs);
        play(List.of(claimed(ToolVariant.VERIFIED_COMMAND).with(Disruption.HOST_FROZEN)));
        play(List.of(claimed(ToolVariant.EFFECT).with(Disruption.SERVER_AWAY)));
        play(List.of(claimed(ToolVariant.VERIFIED).with(Disruption.RESUMED_TWICE)));
    }

    private static ChaosRun claimed(ToolVariant kind) {
        return ChaosRun.of(kind, 4, Fault.at(CrashPoint.AFTER_CLAIM));
    }
}
