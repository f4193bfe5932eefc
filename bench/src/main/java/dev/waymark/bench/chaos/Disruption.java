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

    private interface Play {
        List<RunResult> play(ChaosStage stage, List<ChaosRun> runs) throws IOException, InterruptedException;
    }

    /** Executes these runs with this disruption. */
    List<RunResult> play(ChaosStage stage, List<ChaosRun> runs) throws IOException, InterruptedException {
        return play.play(stage, runs);
    }

    /** Returns how many runs can share a worker process. */
    int together() {
        return together;
    }

    /** Returns whether a run with this disruption can use this tool. */
    boolean allows(ToolVariant kind) {
        return true;
    }

    /** Returns whether a run with this disruption can take place in this scene. */
    boolean allows(Scene scene) {
        return true;
    }

    /** Returns whether the worker that takes over can be disrupted too. */
    boolean canRecur() {
        return this == WORKER_KILLED;
    }

    /**
     * Returns whether the outcome of a call that took effect may be lost. Every disruption can lose the response to a
     * claim, before the call takes effect.
     */
    boolean losesOutcomes() {
        return true;
    }

    /**
     * Returns the thread that completes the run's turn: the run's own thread, unless the disruption requires resuming
     * it in another one.
     */
    String continued(ChaosStage stage, ChaosRun run, List<String> violations) throws InterruptedException {
        return run.id();
    }
}
