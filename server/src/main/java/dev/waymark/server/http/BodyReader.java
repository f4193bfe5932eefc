package dev.waymark.server.http;

import dev.waymark.conversation.value.ProblemType;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.Content;

/** Reads a body asynchronously, with a size limit and a timeout, and discards the rest of a refused one. */
final class BodyReader implements Runnable {
    private static final int MOST_DROPPED = 64 * 1024 * 1024;
    private static final long SECONDS_DROPPED = 10;

    private final Content.Source source;
    private final LargeBytes.Share share;
    private final CompletableFuture<byte[]> body = new CompletableFuture<>();
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private int most;
    private long dropped;
    private boolean begun;

    /** @param share counts the bytes that are in memory until the body is complete */
    BodyReader(Content.Source source, LargeBytes.Share share) {
        this.source = source;
        this.share = share;
    }

    /**
     * Completes with the body. Fails with an {@link HttpProblem} if the body is too large, and with a
     * {@code TimeoutException} if it is not received in time.
     */
    CompletableFuture<byte[]> read(int mostBytes, Duration time) {
        most = mostBytes;
        begin();
        return body.copy().orTimeout(time.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Stops reading, and frees the memory of the body. */
    void fail(Throwable failure) {
        if (body.completeExceptionally(failure)) {
            forget();
        }
    }

    private synchronized void forget() {
        bytes = new ByteArrayOutputStream();
    }

    /**
     * Discards the rest of the body. Completes at its end, or after 64 MiB or ten seconds. If the connection were
     * closed earlier, a client that is still sending might not see the answer.
     */
    CompletableFuture<?> drop() {
        body.cancel(false);
        forget();
        begin();
        return end.copy().orTimeout(SECONDS_DROPPED, TimeUnit.SECONDS).exceptionally(tooSlow -> null);
    }

    private void begin() {
        if (!begun) {
            begun = true;
            run();
        }
    }

    boolean isBegun() {
        return begun;
    }

    boolean isAtEnd() {
        return end.isDone();
    }

    static HttpProblem tooLarge(int most) {
        return HttpProblem.of(413, ProblemType.TOO_LARGE, "the body is larger than " + most + " bytes");
    }

    @Override
    public void run() {
        while (!end.isDone()) {
            Content.Chunk chunk = source.read();
            if (chunk == null) {
                source.demand(this);
                return;
            }
            if (Content.Chunk.isFailure(chunk)) {
                fail(chunk.getFailure());
                end.complete(null);
                return;
            }
            take(chunk.getByteBuffer());
            if (chunk.isLast()) {
                share.keep();
                end.complete(null);
                body.complete(received());
            } else if (dropped > MOST_DROPPED) {
                end.complete(null);
            }
            chunk.release();
        }
    }

    private void take(ByteBuffer part) {
        if (body.isDone()) {
            dropped += part.remaining();
            return;
        }
        int size = append(part);
        if (size > most) {
            fail(tooLarge(most));
        } else {
            share.hold(size);
        }
    }

    private synchronized int append(ByteBuffer part) {
        byte[] copy = new byte[part.remaining()];
        part.get(copy);
        bytes.writeBytes(copy);
        return bytes.size();
    }

    private synchronized byte[] received() {
        byte[] all = bytes.toByteArray();
        bytes = new ByteArrayOutputStream();
        return all;
    }
}
