package dev.waymark.worker.tool;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Limits how many calls to tools of one kind run at a time, shared between threads: a thread gets another slot while it
 * holds fewer than are free. A single thread gets half of the slots, four threads a fifth each, and a new thread always
 * finds a free one until there are as many threads as slots. Thread-safe.
 */
final class ToolSlots {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Map<String, Integer> held = new HashMap<>();
    private int free;

    ToolSlots(int capacity) {
        this.free = capacity;
    }

    /** A slot; close it to release it. */
    interface Slot extends AutoCloseable {
        @Override
        void close();
    }

    Slot acquire(String thread) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (!isFreeFor(thread)) {
                changed.await();
            }
            return take(thread);
        } finally {
            lock.unlock();
        }
    }

    /** Takes a slot for this thread if it gets one at once. */
    Optional<Slot> tryAcquire(String thread) {
        lock.lock();
        try {
            return isFreeFor(thread) ? Optional.of(take(thread)) : Optional.empty();
        } finally {
            lock.unlock();
        }
    }

    private boolean isFreeFor(String thread) {
        return held.getOrDefault(thread, 0) < free;
    }

    /** Taking a slot does not free any, so there is no thread to signal. */
    private Slot take(String thread) {
        free--;
        held.merge(thread, 1, Integer::sum);
        return () -> release(thread);
    }

    private void release(String thread) {
        lock.lock();
        try {
            free++;
            held.computeIfPresent(thread, (name, count) -> count == 1 ? null : count - 1);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
