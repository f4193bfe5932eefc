package dev.waymark.worker.inbound;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Limits the memory for input that a worker reads, across all readers.
 *
 * <ul>
 *   <li>One half of the budget is shared. A reader gets more of it only if the reader's total then does not exceed the
 *       memory that was free before. A single reader gets half of it, four readers a fifth each, and small input always
 *       finds free memory.
 *   <li>The other half is for one large reader at a time. The next one waits until that one is closed, so large
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

    private final Duration patience;
    private long free;
    private long freeForOneLarge;
    private @Nullable Share large;

    MemoryBudget(long bytes, Duration patience) {
        this.free = bytes / 2;
        this.freeForOneLarge = bytes - free;
        this.patience = patience;
    }

    /** Half of the heap, shared by all workers of the process. */
    public static MemoryBudget ofThisProcess() {
        return OF_THIS_PROCESS;
    }

    /** An empty share for one reader. Closing it returns its memory. */
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
         * @throws MemoryShortException if it does not become free in time, this share is closed meanwhile, or the
         * calling thread is interrupted; the interrupt flag is restored
         */
        public void take(long bytes) throws MemoryShortException {
            synchronized (MemoryBudget.this) {
                long end = System.nanoTime() + patience.toNanos();
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
