package dev.waymark.worker.inbound;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How many bytes from outside a worker holds at a time while it reads them, shared between everything that reads.
 *
 * <ul>
 *   <li>A reader takes of one half of the budget while it holds less than is free there. One alone gets half of that,
 *       four get a fifth each, and whoever needs little always finds something free.
 *   <li>The other half is for one large reader at a time. The next one that needs more waits until that one has ended, so
 *       large readers take turns, and never wait for each other.
 *   <li>A reader that has waited for 30 seconds gives up.
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
    /** A byte of input is held as a buffer, as text, as a tree, without secrets, as a result and as a payload. */
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

    /** Half of the heap, which all workers of a process have in common. */
    public static MemoryBudget ofThisProcess() {
        return OF_THIS_PROCESS;
    }

    /** A share for one reader, with nothing in it yet. Closing it gives everything back. */
    public Share open() {
        return new Share();
    }

    /** What one reader holds. Safe for several threads. */
    public final class Share implements AutoCloseable {
        private long held;
        private long heldAsLarge;
        private boolean closed;

        private Share() {}

        /**
         * Takes so much, and waits for it if need be.
         *
         * @throws MemoryShortException when it does not become free in time, when this share is closed meanwhile, and when
         *     the calling thread is interrupted, which it is again afterwards
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

        /** A reader that has not noticed yet gets nothing any more. */
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
