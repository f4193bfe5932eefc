package dev.waymark.worker.inbound;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Limits the memory for input that a worker reads, across all readers.
 *
 * <ul>
 *   <li>One half of the budget is shared. A reader gets more of it only if the reader's total then does not exceed the
 *       memory that was free before. If readers take memory in small steps, a single one gets half of this half, and
 *       four get a fifth each, so that small input finds free memory.
 *   <li>The other half is for one large reader at a time. The next one waits until the first one is closed, so large
 *       readers take turns and cannot deadlock.
 *   <li>A reader fails after waiting for 30 seconds.
 * </ul>
 *
 * Thread-safe.
 *
 * <pre>{@code
 * try (MemoryBudget.Share memory = MemoryBudget.ofThisProcess().open()) {
 *     memory.take(bytes.length);
 * }
 * }</pre>
 */
public final class MemoryBudget {
    /**
     * Heap bytes for each byte of input, which may exist as buffer, text, tree, masked text, result and payload at the
     * same time.
     */
    private static final int HEAP_BYTES_EACH = 8;

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final MemoryBudget OF_THIS_PROCESS =
            new MemoryBudget(Runtime.getRuntime().maxMemory() / 2 / HEAP_BYTES_EACH, PATIENCE);

    private final Duration longestWait;
    private long free;
    private long freeForOneLarge;
    private @Nullable Share large;

    MemoryBudget(long bytes, Duration longestWait) {
        this.free = bytes / 2;
        this.freeForOneLarge = bytes - free;
        this.longestWait = longestWait;
    }

    /** Returns the budget of all workers of this process: the input for which half of the maximum heap is enough. */
    public static MemoryBudget ofThisProcess() {
        return OF_THIS_PROCESS;
    }

    /** Opens an empty share for one reader. Closing the share returns its memory. */
    public Share open() {
        return new Share();
    }

    /** The memory of one reader. Thread-safe. */
    public final class Share implements AutoCloseable {
        private long held;
        private long heldAsLarge;
        private boolean closed;

        private Share() {}

        /**
         * Takes this much memory, and waits for it if necessary.
         *
         * @throws MemoryShortException if the memory does not become free in time, if this share is closed, or if the
         * calling thread is interrupted, in which case the interrupt flag is restored
         */
        public void take(long bytes) throws MemoryShortException {
            synchronized (MemoryBudget.this) {
                long end = System.nanoTime() + longestWait.toNanos();
                while (closed || !takeNow(bytes)) {
                    long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
                    if (closed || left <= 0) {
                        throw new MemoryShortException();
                    }
                    try {
                        MemoryBudget.this.wait(left);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                        throw new MemoryShortException();
                    }
                }
            }
        }

        private boolean takeNow(long bytes) {
            if (held + bytes <= free) {
                held += bytes;
                free -= bytes;
                return true;
            }
            boolean mayBeLarge = large == null || large == this;
            if (mayBeLarge && bytes <= freeForOneLarge) {
                large = this;
                heldAsLarge += bytes;
                freeForOneLarge -= bytes;
                return true;
            }
            return false;
        }

        /** Returns the memory. Later requests on this share fail. */
        @Override
        public void close() {
            synchronized (MemoryBudget.this) {
                free += held;
                freeForOneLarge += heldAsLarge;
                held = 0;
                heldAsLarge = 0;
                closed = true;
                if (large == this) {
                    large = null;
                }
                MemoryBudget.this.notifyAll();
            }
        }
    }
}
