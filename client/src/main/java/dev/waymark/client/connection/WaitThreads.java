package dev.waymark.client.connection;

import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The few Java threads of this process that run the waits of all clients that nobody blocks for. A wait uses one only
 * while it has something to do. The threads are daemons, and end when there are no waits.
 */
public final class WaitThreads {
    /** More than one per processor, because reading history blocks for the time of a short request. */
    private static final int THREADS = Math.max(4, Runtime.getRuntime().availableProcessors());

    private static final int MOST_THREADS = 32_767;
    private static final AtomicInteger NUMBER = new AtomicInteger();

    private static final ForkJoinPool POOL = new ForkJoinPool(
            THREADS, WaitThreads::named, null, true, THREADS, MOST_THREADS, THREADS, null, 10, TimeUnit.SECONDS);

    private WaitThreads() {}

    private static ForkJoinWorkerThread named(ForkJoinPool pool) {
        ForkJoinWorkerThread thread = ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(pool);
        thread.setName("waymark-wait-" + NUMBER.incrementAndGet());
        return thread;
    }

    /** Returns an executor for one wait, whose tasks see the context class loader of the calling Java thread. */
    public static Executor forCaller() {
        ClassLoader caller = Thread.currentThread().getContextClassLoader();
        return task -> POOL.execute(() -> {
            Thread.currentThread().setContextClassLoader(caller);
            task.run();
        });
    }

    /**
     * Runs code of the caller, or another task that may take long, in this Java thread. If the thread is one of the
     * shared ones, another one takes its place meanwhile, so that no other wait is delayed.
     */
    public static <T> T blocking(Supplier<T> task) {
        Blocking<T> blocking = new Blocking<>(task);
        try {
            ForkJoinPool.managedBlock(blocking);
        } catch (InterruptedException e) {
            throw Sleeper.interrupted(e);
        }
        return blocking.result();
    }

    /** Like {@link #blocking(Supplier)}, without a result. */
    public static void blocking(Runnable task) {
        blocking(() -> {
            task.run();
            return true;
        });
    }

    private static final class Blocking<T> implements ForkJoinPool.ManagedBlocker {
        private final Supplier<T> task;
        private @Nullable T result;

        Blocking(Supplier<T> task) {
            this.task = task;
        }

        @Override
        public boolean block() {
            result = task.get();
            return true;
        }

        @Override
        public boolean isReleasable() {
            return result != null;
        }

        T result() {
            if (result == null) {
                throw new IllegalStateException("the task has no result");
            }
            return result;
        }
    }
}
