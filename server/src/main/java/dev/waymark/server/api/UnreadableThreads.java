package dev.waymark.server.api;

import dev.waymark.client.list.Progress;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs unreadable threads and does not report them to the caller, because they may belong to other callers. */
public final class UnreadableThreads implements Progress {
    private static final Logger LOG = LoggerFactory.getLogger(UnreadableThreads.class);

    @Override
    public void read(int done, int of) {}

    @Override
    public void leaveOut(List<String> threads, int of, RuntimeException problem) {
        LOG.warn("{} threads are not listed, because they cannot be read: {}", threads.size(), threads, problem);
    }
}
