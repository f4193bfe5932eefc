package dev.waymark.server.http;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Limits the bytes of large bodies and replies that are in memory at a time, for all clients together. If the limit is
 * exceeded, the largest body or reply that waits for its client is given up. A single one is always accepted.
 * Thread-safe.
 */
final class LargeBytes {
    /** Smaller bodies are not counted, so that people can always answer and decide. */
    static final int SMALL_BYTES = 64 * 1024;

    private final long most;
    /** Oldest first. */
    private final Set<Share> shares = new LinkedHashSet<>();

    LargeBytes(long most) {
        this.most = most;
    }

    /** The bytes of one request. */
    final class Share {
        private final Runnable giveUp;
        private long bytes;
        private boolean waits;

        private Share(Runnable giveUp) {
            this.giveUp = giveUp;
        }

        /** Sets how many bytes are in memory, waiting for the client to send more or to read them. */
        void hold(long now) {
            tooMany(this, now).forEach(each -> each.giveUp.run());
        }

        /** Marks the bytes as no longer waiting for the client, so that they are not given up. */
        void keep() {
            synchronized (LargeBytes.this) {
                waits = false;
            }
        }
    }

    /** @param giveUp called in any Java thread, at most once after each {@link Share#hold} */
    Share share(Runnable giveUp) {
        return new Share(giveUp);
    }

    private synchronized List<Share> tooMany(Share changed, long bytes) {
        changed.bytes = bytes;
        changed.waits = true;
        if (bytes <= SMALL_BYTES) {
            shares.remove(changed);
            return List.of();
        }
        shares.add(changed);
        List<Share> given = new ArrayList<>();
        while (shares.size() > 1
                && shares.stream().mapToLong(each -> each.bytes).sum() > most) {
            // Among equal ones, the oldest is the most likely to have a stalled client.
            Optional<Share> largest = shares.stream()
                    .filter(each -> each.waits)
                    .reduce((one, other) -> other.bytes > one.bytes ? other : one);
            if (largest.isEmpty()) {
                break;
            }
            shares.remove(largest.get());
            given.add(largest.get());
        }
        return given;
    }
}
