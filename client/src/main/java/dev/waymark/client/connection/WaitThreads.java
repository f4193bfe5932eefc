package dev.waymark.client.connection;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * The few Java threads of this process that run the non-blocking waits of all clients. A wait uses one only while it
 * has something to do. The threads are daemons, and end when there are no waits.
 */
public final class WaitThreads {
    /** More than one per processor, because reading history blocks for the time of a short request. */
    private static final int THREADS = Math.max(4, Runtime.getRuntime().availableProcessors());

    /**
     * A thread in which a caller's code runs for longer is replaced. Almost all code ends sooner. With a lower limit, a
     * thousand waits that end at once could start a thousand threads.
     */
    private static final long LONG_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final long LOOK_EVERY_MILLIS = 50;

    private static final AtomicInteger NUMBER = new AtomicInteger();
    private static final Set<WaitThread> BLOCKED = ConcurrentHashMap.newKeySet();
    private static final AtomicBoolean WATCHED = new AtomicBoolean();
    private static final ThreadPoolExecutor POOL = pool();

    private WaitThreads() {}

    private static ThreadPoolExecutor pool() {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                THREADS, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), WaitThread::new);
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    private static final class WaitThread extends Thread {
        /** When the current code began, if the thread is in {@link #BLOCKED}. */
        private volatile long since;

        WaitThread(Runnable tasks) {
            super(tasks, "waymark-wait-" + NUMBER.incrementAndGet());
            setDaemon(true);
        }

        boolean isBlockedForLong(long now) {
            return now - since >= LONG_NANOS;
        }
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
     * Runs code of the caller, or another task that may take long, in this Java thread. If the task takes long in one
     * of the shared threads, another thread replaces it meanwhile, so that other waits are delayed only for a moment.
     */
    public static <T> T blocking(Supplier<T> task) {
        if (!(Thread.currentThread() instanceof WaitThread thread) || BLOCKED.contains(thread)) {
            return task.get();
        }
        thread.since = System.nanoTime();
        BLOCKED.add(thread);
        if (WATCHED.compareAndSet(false, true)) {
            lookLater();
        }
        try {
            return task.get();
        } finally {
            BLOCKED.remove(thread);
        }
    }

    public static void blocking(Runnable task) {
        blocking(() -> {
            task.run();
            return true;
        });
    }

    private static void lookLater() {
        CompletableFuture.delayedExecutor(LOOK_EVERY_MILLIS, TimeUnit.MILLISECONDS, Runnable::run)
                .execute(WaitThreads::look);
    }

    /** Replaces the threads that are blocked for long. Twice as many each time, because many callbacks may block at once. */
    private static void look() {
        try {
            long now = System.nanoTime();
            int blocked = (int) BLOCKED.stream()
                    .filter(thread -> thread.isBlockedForLong(now))
                    .count();
            POOL.setCorePoolSize(blocked + Math.max(THREADS, blocked));
        } finally {
            keepLooking();
        }
    }

    private static void keepLooking() {
        boolean isNeeded = !BLOCKED.isEmpty() || POOL.getCorePoolSize() > THREADS;
        if (!isNeeded) {
            WATCHED.set(false);
            // A thread that was blocked before WATCHED became false has not started another watch.
            isNeeded = !BLOCKED.isEmpty() && WATCHED.compareAndSet(false, true);
        }
        if (isNeeded) {
            lookLater();
        }
    }
}
