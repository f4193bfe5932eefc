package dev.waymark.server.http;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * Sends a stream to its client. Requests the next part only after the previous one was written, so a slow client
 * neither blocks a Java thread nor fills memory. The server's idle timeout ends a stream that its client does not read.
 */
final class StreamWriter {
    private final Response response;
    private final Callback callback;
    private final EventSource source;
    private final Duration heartbeat;
    private final BooleanSupplier allowed;
    private final Consumer<StreamWriter> over;
    private CompletableFuture<EventSource.Part> pending = new CompletableFuture<>();
    private boolean ending;

    /**
     * Creates a stream; {@link #begin} starts it.
     *
     * @param heartbeat how long the stream may be silent before a comment is sent
     * @param allowed whether the caller may still read the stream
     * @param over runs when the stream ends, for any reason
     */
    StreamWriter(
            Response response,
            Callback callback,
            EventSource source,
            Duration heartbeat,
            BooleanSupplier allowed,
            Consumer<StreamWriter> over) {
        this.response = response;
        this.callback = callback;
        this.source = source;
        this.heartbeat = heartbeat;
        this.allowed = allowed;
        this.over = over;
    }

    void begin() {
        // Sends a comment immediately, so that the client knows that it is connected.
        send(": open\n\n", false);
    }

    /** Ends the stream after the part that is being sent. */
    synchronized void end() {
        ending = true;
        pending.complete(EventSource.Part.END);
    }

    private void goOn() {
        if (!allowed.getAsBoolean()) {
            finish();
            return;
        }
        CompletableFuture<EventSource.Part> next;
        synchronized (this) {
            pending = ending ? CompletableFuture.completedFuture(EventSource.Part.END) : source.next(heartbeat);
            next = pending;
        }
        next.whenComplete((part, failure) -> {
            if (failure != null || (part.last() && part.text().isEmpty())) {
                finish();
            } else {
                send(part.text().isEmpty() ? ": still here\n\n" : part.text(), part.last());
            }
        });
    }

    private void send(String text, boolean last) {
        ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        response.write(false, bytes, Callback.from(last ? this::finish : this::goOn, this::fail));
    }

    private void finish() {
        close();
        callback.succeeded();
    }

    private void fail(Throwable failure) {
        close();
        callback.failed(failure);
    }

    private void close() {
        source.close();
        over.accept(this);
    }
}
