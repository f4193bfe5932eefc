package dev.waymark.starter.options;

import dev.waymark.client.list.Progress;
import dev.waymark.display.SafeText;
import dev.waymark.starter.render.Output;
import java.util.List;
import java.util.stream.Collectors;

/** Reports progress on stderr if reading takes a long time. */
public final class SlowProgress implements Progress {
    private static final int MOST_NAMED = 5;
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

    /** Fails if no thread can be read: an empty list would look like a server without threads. */
    @Override
    public void leaveOut(List<String> threads, int of, RuntimeException problem) {
        if (threads.size() == of) {
            throw problem;
        }
        String named = threads.stream().limit(MOST_NAMED).map(SafeText::line).collect(Collectors.joining(", "));
        output.note("waymark: "
                + (threads.size() == 1
                        ? "a thread cannot be read and is"
                        : threads.size() + " threads cannot be read and are")
                + " not listed: " + named + (threads.size() > MOST_NAMED ? ", …" : "") + ": "
                + SafeText.line(String.valueOf(problem.getMessage())));
    }
}
