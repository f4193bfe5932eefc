package dev.waymark.server.http;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.server.ConnectionMetaData;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * Closes connections that do not send a complete head in time. Jetty limits only the silence between two bytes, so a
 * client that sends one byte a minute would keep its connection for days, and 4,000 such clients all connections.
 */
final class HeadDeadline extends Handler.Wrapper implements Connection.Listener {
    private static final Duration MOST = Duration.ofSeconds(10);
    private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

    private final Scheduler scheduler;
    private final Map<Connection, Waiting> connections = new ConcurrentHashMap<>();

    /**
     * A connection without a request.
     *
     * @param isNew whether it had none before
     * @param bytes what it had received when its last request ended
     * @param sinceNanos since when it waits for a head
     */
    private record Waiting(boolean isNew, long bytes, long sinceNanos) {}

    HeadDeadline(Handler handler, Scheduler scheduler) {
        super(handler);
        this.scheduler = scheduler;
    }

    /** Starts to look for connections that are late. */
    void begin() {
        scheduler.schedule(this::look, LOOK_EVERY.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void onOpened(Connection connection) {
        // Not the layer of TLS around it, which has no requests.
        if (connection instanceof ConnectionMetaData) {
            connections.put(connection, new Waiting(true, 0, System.nanoTime()));
        }
    }

    @Override
    public void onClosed(Connection connection) {
        connections.remove(connection);
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        Connection connection = request.getConnectionMetaData().getConnection();
        connections.remove(connection);
        Request.addCompletionListener(
                request,
                failure -> connections.put(connection, new Waiting(false, connection.getBytesIn(), System.nanoTime())));
        return super.handle(request, response, callback);
    }

    private void look() {
        connections.forEach((connection, waiting) -> {
            long now = System.nanoTime();
            // An idle connection has no part of a head. It ends at the idle timeout.
            boolean isIdle = !waiting.isNew() && connection.getBytesIn() == waiting.bytes();
            if (!connection.getEndPoint().isOpen()) {
                connections.remove(connection);
            } else if (isIdle) {
                connections.replace(connection, waiting, new Waiting(false, waiting.bytes(), now));
            } else if (now - waiting.sinceNanos() > MOST.toNanos()) {
                connection.getEndPoint().close();
            }
        });
        begin();
    }
}
