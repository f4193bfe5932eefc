package dev.waymark.server.http;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits the bytes of large bodies that are received or processed at a time, for all callers together. A parsed body
 * takes many times its size. Thread-safe.
 */
final class BodyBudget {
    /** Bodies up to this size are not counted, so that nobody is kept from answering and deciding. */
    static final int SMALL_BYTES = 64 * 1024;

    /** A checkpoint takes up to some 20 times its size in memory while it is imported. */
    private static final int HEAP_PER_BYTE = 32;

    private final long most;
    private final AtomicLong taken = new AtomicLong();

    BodyBudget(long most) {
        this.most = most;
    }

    /** The budget for a heap of this size. */
    static BodyBudget ofHeap(long bytes) {
        return new BodyBudget(bytes / HEAP_PER_BYTE);
    }

    /** Takes these bytes; false if too many are taken already. A body that exceeds the budget is taken alone. */
    boolean take(long bytes) {
        if (bytes <= SMALL_BYTES) {
            return true;
        }
        long before = taken.getAndUpdate(now -> now == 0 || now + bytes <= most ? now + bytes : now);
        return before == 0 || before + bytes <= most;
    }

    void give(long bytes) {
        if (bytes > SMALL_BYTES) {
            taken.addAndGet(-bytes);
        }
    }
}
