package dev.waymark.client;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

/** The feeds of a client's watches, one for each watched thread. Thread-safe. */
final class ThreadFeeds {
    private final Map<Key, CompletableFuture<ThreadFeed>> feeds = new ConcurrentHashMap<>();

    /** Watches with different executors share nothing, since each executor may be shut down. */
    private record Key(String thread, Executor executor) {}

    /**
     * Returns the feed of a thread, and counts a watch of it. Callers that open watches at the same time wait for the
     * one that reads the thread. Call {@link ThreadFeed#release} when the watch is closed.
     */
    ThreadFeed open(ClientContext context, String thread, Executor executor) {
        Key key = new Key(thread, executor);
        while (true) {
            CompletableFuture<ThreadFeed> own = new CompletableFuture<>();
            CompletableFuture<ThreadFeed> known = feeds.putIfAbsent(key, own);
            if (known == null) {
                read(context, key, own);
                known = own;
            }
            ThreadFeed feed = join(known);
            if (feed.retain()) {
                return feed;
            }
            feeds.remove(key, known);
        }
    }

    private void read(ClientContext context, Key key, CompletableFuture<ThreadFeed> own) {
        try {
            own.complete(ThreadFeed.open(context, key.thread(), key.executor(), () -> feeds.remove(key, own)));
        } catch (RuntimeException e) {
            feeds.remove(key, own);
            own.completeExceptionally(e);
        }
    }

    private static ThreadFeed join(CompletableFuture<ThreadFeed> feed) {
        try {
            return feed.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }
}
