package dev.waymark.starter.render;

import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.watch.Watcher;
import dev.waymark.history.Moment;

/** Prints to stderr if a command waits for a worker. Shows nothing else of a turn. */
public class WorkerNotes implements Watcher {
    private final Output output;

    public WorkerNotes(Output output) {
        this.output = output;
    }

    @Override
    public boolean followsSteps() {
        return false;
    }

    @Override
    public boolean happened(Moment moment) {
        return true;
    }

    @Override
    public boolean waitsForWorker(WaymarkException.NoWorker absence) {
        output.step(OneLine.error(absence));
        return true;
    }

    @Override
    public void workerIsBack() {
        output.step("A worker takes the work again.");
    }
}
