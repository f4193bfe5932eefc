package dev.waymark.server.http;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.Content;

/** Reads a body asynchronously, with a size limit and a timeout. Blocks no Java thread. */
final class BodyReader implements Runnable {
    private static final long SECONDS = 30;
    private static final int MOST_DROPPED = 64 * 1024 * 1024;
    private static final long SECONDS_DROPPED = 10;

    private final Content.Source source;
    private final int most;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final CompletableFuture<byte[]> body = new CompletableFuture<>();

    private final boolean keeps;
    private long size;

    private BodyReader(Content.Source source, int most, boolean keeps) {
        this.source = source;
        this.most = most;
        this.keeps = keeps;
    }

    /**
     * Completes with the body. Fails with an {@link HttpProblem} if the body is too large, and with a
     * {@code TimeoutException} after 30 seconds.
     */
    static CompletableFuture<byte[]> read(Content.Source source, int most) {
        return read(new BodyReader(source, most, true));
    }

    /** Like {@link #read}, but drops the body, and completes with no bytes. */
    static CompletableFuture<byte[]> discard(Content.Source source, int most) {
        return read(new BodyReader(source, most, false));
    }

    /**
     * Drops what is left of a refused body, and completes then, or after 64 MiB or ten seconds. If the connection were
     * closed before, a client that is still sending might not see the answer.
     */
    static CompletableFuture<?> drop(Content.Source source) {
        BodyReader reader = new BodyReader(source, MOST_DROPPED, false);
        reader.run();
        return reader.body
                .copy()
                .completeOnTimeout(new byte[0], SECONDS_DROPPED, TimeUnit.SECONDS)
                .exceptionally(tooLargeOrBroken -> new byte[0]);
    }

    private static CompletableFuture<byte[]> read(BodyReader reader) {
        reader.run();
        return reader.body.copy().orTimeout(SECONDS, TimeUnit.SECONDS);
    }

    static HttpProblem tooLarge(int most) {
        return HttpProblem.of(413, "TooLarge", "the body is larger than " + most + " bytes");
    }

    @Override
    public void run() {
        while (!body.isDone()) {
            Content.Chunk chunk = source.read();
            if (chunk == null) {
                source.demand(this);
                return;
            }
            if (Content.Chunk.isFailure(chunk)) {
                body.completeExceptionally(chunk.getFailure());
                return;
            }
            take(chunk);
        }
    }

    private void take(Content.Chunk chunk) {
        ByteBuffer part = chunk.getByteBuffer();
        size += part.remaining();
        if (size > most) {
            body.completeExceptionally(tooLarge(most));
        } else {
            if (keeps) {
                byte[] copy = new byte[part.remaining()];
                part.get(copy);
                bytes.writeBytes(copy);
            }
            if (chunk.isLast()) {
                body.complete(bytes.toByteArray());
            }
        }
        chunk.release();
    }
}
