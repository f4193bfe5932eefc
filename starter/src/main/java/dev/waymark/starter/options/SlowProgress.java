package dev.waymark.starter.options;

import dev.waymark.client.list.Progress;
import dev.waymark.starter.render.Output;

/** Reports progress on stderr if reading takes long. */
public final class SlowProgress implements Progress {
    private static final long QUIET_NANOS = 2_000_000_000L;

    private final Output output;
    private long next = System.nanoTime() + QUIET_NANOS;

    public SlowProgress(Output output) {
        this.output = output;
    }

    @Override
    public void read(int done, int of) {
        if (done < of && System.nanoTime() - next > 0) {
            output.note("waymark: read " + done + " of " + of + " threads ...");
            next = System.nanoTime() + QUIET_NANOS;
        }
    }
}
