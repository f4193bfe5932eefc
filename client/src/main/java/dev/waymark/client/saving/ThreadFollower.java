package dev.waymark.client.saving;

import dev.waymark.client.connection.MomentStream;
import dev.waymark.client.save.SaveInterval;
import java.util.Optional;

/** Follows one thread, until it closes. */
public final class ThreadFollower implements SaveReader {
    private static final long LONG_WAIT_MILLIS = 20_000;

    private final MomentStream feed;
    private final CheckpointFeeder keeping;
    /**
     * Whether the existing history has been read. The first read takes all of it, and only its newest version is saved.
     */
    private boolean begun;

    private boolean woken;
    private Optional<Thread> waiting = Optional.empty();

    public ThreadFollower(String thread, MomentStream feed, CheckpointWriter writer, SaveInterval cadence) {
        this.feed = feed;
        this.keeping = new CheckpointFeeder(thread, writer, cadence);
    }

    @Override
    public long read() {
        if (begun) {
            awaitMore();
        } else {
            take(0);
            begun = true;
        }
        return 0;
    }

    private void awaitMore() {
        if (beginToWait()) {
            try {
                take(LONG_WAIT_MILLIS);
            } finally {
                endWaiting();
            }
        }
    }

    private synchronized boolean beginToWait() {
        waiting = woken ? Optional.empty() : Optional.of(Thread.currentThread());
        return !woken;
    }

    private synchronized void endWaiting() {
        waiting = Optional.empty();
        Thread.interrupted();
    }

    @Override
    public synchronized void wake() {
        woken = true;
        waiting.ifPresent(Thread::interrupt);
    }

    private void take(long waitMillis) {
        keeping.take(feed, waitMillis);
        if (feed.isClosed()) {
            keeping.end();
        }
    }

    @Override
    public boolean isOver() {
        return feed.isClosed();
    }

    @Override
    public void lookOnceMore() {
        feed.close();
        take(0);
    }

    @Override
    public void takePassedOver() {
        keeping.takePassedOver();
    }
}
