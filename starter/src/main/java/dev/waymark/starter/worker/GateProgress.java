package dev.waymark.starter.worker;

import dev.waymark.rehearsal.gate.Gate;
import dev.waymark.rehearsal.gate.GateReport;
import dev.waymark.starter.render.Output;
import java.util.concurrent.TimeUnit;

/** Prints findings immediately, because the remaining threads may take hours, and progress from time to time. */
final class GateProgress implements Gate.Listener {
    private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final Output output;
    private long last = System.nanoTime();

    GateProgress(Output output) {
        this.output = output;
    }

    @Override
    public void checked(int threads, int of) {
        if (System.nanoTime() - last > PROGRESS_NANOS) {
            last = System.nanoTime();
            output.note("waymark: " + threads + " of " + of + " threads checked");
        }
    }

    @Override
    public void found(GateReport.Finding finding) {
        if (!output.isJson()) {
            output.line(finding.line());
        }
    }
}
