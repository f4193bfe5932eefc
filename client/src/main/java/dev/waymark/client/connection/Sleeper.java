package dev.waymark.client.connection;

import dev.waymark.client.failure.WaymarkException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Pauses, with or without blocking a Java thread. */
public final class Sleeper {
    private Sleeper() {}

    /** Sleeps this long. Throws if the Java thread is interrupted, which means that its caller no longer wants to wait. */
    public static void millis(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    /** Completes after this time, or as soon as one of the others is done, even exceptionally. */
    public static CompletableFuture<?> first(long millis, CompletableFuture<?>... others) {
        CompletableFuture<Object> time =
                new CompletableFuture<>().completeOnTimeout(true, Math.max(1, millis), TimeUnit.MILLISECONDS);
        return CompletableFuture.anyOf(
                        Stream.concat(Stream.of(time), Stream.of(others)).toArray(CompletableFuture<?>[]::new))
                // Otherwise, the timer would be kept until its time.
                .handle((woken, failure) -> time.complete(true));
    }

    /**
     * Blocks until a pause is over, and returns its result or throws its exception. Throws if the Java thread is
     * interrupted, as {@link #millis} does.
     */
    public static <T> T until(CompletableFuture<T> pause) {
        try {
            return pause.get();
        } catch (InterruptedException e) {
            throw interrupted(e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e);
        }
    }

    static WaymarkException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new WaymarkException.WaitInterrupted(e);
    }
}
