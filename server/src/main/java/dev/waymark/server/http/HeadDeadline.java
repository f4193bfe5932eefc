package dev.waymark.server.http;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * Closes connections that do not send a complete head in time. Jetty limits only the silence between two bytes, so a
 * client that sends one byte a minute would keep its connection for days, and 4,000 such clients all connections.
 */
final class HeadDeadline implements Connection.Listener {
    private static final Duration MOST = Duration.ofSeconds(10);
    private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

    private final Scheduler scheduler;
    private final Map<Connection, Seen> connections = new ConcurrentHashMap<>();

    /** What a connection had transferred when it last finished a request, or was busy with one. */
    private record Seen(long requests, long replies, long bytes, long nanos) {
        static Seen now(Connection connection) {
            return new Seen(
                    connection.getMessagesIn(),
                    connection.getMessagesOut(),
                    connection.getBytesIn(),
                    System.nanoTime());
        }
    }

    HeadDeadline(Scheduler scheduler) {
        this.scheduler = scheduler;
    }

    void begin() {
        scheduler.schedule(this::look, LOOK_EVERY.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void onOpened(Connection connection) {
        // The layer of TLS counts no messages. The connection inside of it is seen, too.
        if (connection.getMessagesIn() >= 0) {
            connections.put(connection, Seen.now(connection));
        }
    }

    @Override
    public void onClosed(Connection connection) {
        connections.remove(connection);
    }

    private void look() {
        connections.forEach((connection, seen) -> {
            Seen now = Seen.now(connection);
            boolean isBetweenRequests = now.requests() == now.replies()
                    && now.requests() == seen.requests()
                    && now.replies() == seen.replies();
            // An idle connection has no part of a head. It ends at the idle timeout.
            boolean waitsForHead = isBetweenRequests && (now.requests() == 0 || now.bytes() > seen.bytes());
            if (!waitsForHead) {
                connections.replace(connection, seen, now);
            } else if (now.nanos() - seen.nanos() > MOST.toNanos()) {
                connection.getEndPoint().close();
            }
        });
        begin();
    }
}
