package dev.waymark.bench.chaos;

import java.io.IOException;
import java.util.List;

/** What happens to a run when its fault is due. */
public enum Disruption {
    /** The worker is killed, and another one takes over. */
    WORKER_KILLED(6, ChaosStage::playKilled),
    /**
     * The host of the worker is suspended with everything that runs on it, and resumes when another worker has
     * completed the turn.
     */
    HOST_FROZEN(1, ChaosStage::playFrozen) {
        @Override
        boolean allows(ToolVariant kind) {
            return kind.isFenced();
        }
    },
    /** The worker cannot reach the server for 20 s. */
    SERVER_AWAY(6, ChaosStage::playWithOneWorker) {
        @Override
        boolean losesOutcomes() {
            return false;
        }
    },
    /** The thread is terminated while its worker continues, and several clients resume the thread at the same time. */
    RESUMED_TWICE(6, ChaosStage::playWithOneWorker) {
        @Override
        boolean allows(Scene scene) {
            return scene == Scene.ALONE;
        }

        @Override
        String continued(ChaosStage stage, ChaosRun run, List<String> violations) throws InterruptedException {
            return stage.resume(run, violations);
        }
    };

    private final int together;
    private final Play play;

    Disruption(int together, Play play) {
        this.together = together;
        this.play = play;
    }

    /** How runs are executed. */
    private interface Play {
        List<RunResult> play(ChaosStage stage, List<ChaosRun> runs) throws IOException, InterruptedException;
    }

    /** Executes these runs concurrently. */
    List<RunResult> play(ChaosStage stage, List<ChaosRun> runs) throws IOException, InterruptedException {
        return play.play(stage, runs);
    }

    /** The number of runs that can share a worker process. */
    int together() {
        return together;
    }

    /** Whether a run can have this tool. */
    boolean allows(ToolVariant kind) {
        return true;
    }

    /** Whether a run can have this scene. */
    boolean allows(Scene scene) {
        return true;
    }

    /** Whether another worker is disrupted after the first one. */
    boolean canRecur() {
        return this == WORKER_KILLED;
    }

    /**
     * Whether the outcome of a call that took effect may be lost. The answer to a claim may be lost with every
     * disruption.
     */
    boolean losesOutcomes() {
        return true;
    }

    /** The thread that completes the run's turn. */
    String continued(ChaosStage stage, ChaosRun run, List<String> violations) throws InterruptedException {
        return run.id();
    }
}
