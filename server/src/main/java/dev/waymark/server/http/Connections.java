package dev.waymark.server.http;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.server.ConnectionMetaData;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * Closes connections that do not send a head or read a reply in time, and the oldest ones if there are too many. Jetty
 * limits only the silence between two bytes, so a client that sends or reads one byte per minute would keep its
 * connection for days.
 */
final class Connections extends Handler.Abstract implements Connection.Listener {
    private static final long LOOK_EVERY_MILLIS = 250;

    private final HttpLimits limits;
    private final LargeBytes large;
    private final Scheduler scheduler;
    private final Consumer<Transfer> service;
    /** Oldest first. A connection moves to the end after a request. */
    private final Map<Connection, Use> uses = new LinkedHashMap<>();

    enum Phase {
        NEW,
        /** Had a request, and waits for the next one. */
        IDLE,
        RECEIVING,
        ANSWERING,
        REPLYING
    }

    /** What a connection is used for, since when, and how many bytes it had received by then. */
    private record Use(Phase phase, long sinceNanos, long bytes) {
        static Use of(Phase phase, Connection connection) {
            return new Use(phase, System.nanoTime(), connection.getBytesIn());
        }
    }

    Connections(HttpLimits limits, Scheduler scheduler, Consumer<Transfer> service) {
        this.limits = limits;
        this.large = new LargeBytes(limits.largeBytes());
        this.scheduler = scheduler;
        this.service = service;
    }

    /** Starts looking for connections that exceed their time. */
    void begin() {
        scheduler.schedule(this::look, LOOK_EVERY_MILLIS, TimeUnit.MILLISECONDS);
    }

    @Override
    public void onOpened(Connection connection) {
        // Ignores the TLS layer, which has no requests.
        if (connection instanceof ConnectionMetaData) {
            opened(connection).ifPresent(tooMany -> tooMany.getEndPoint().close());
        }
    }

    private synchronized Optional<Connection> opened(Connection connection) {
        uses.put(connection, Use.of(Phase.NEW, connection));
        if (uses.size() <= limits.connections()) {
            return Optional.empty();
        }
        Optional<Connection> oldest = uses.entrySet().stream()
                .filter(each -> each.getValue().phase() != Phase.ANSWERING)
                .map(Map.Entry::getKey)
                .findFirst();
        oldest.ifPresent(uses::remove);
        return oldest;
    }

    @Override
    public synchronized void onClosed(Connection connection) {
        uses.remove(connection);
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        enter(Phase.ANSWERING, request);
        Request.addCompletionListener(request, failure -> idle(connection(request)));
        service.accept(new Transfer(this, large, limits.bodyTime(), request, response, callback));
        return true;
    }

    private static Connection connection(Request request) {
        return request.getConnectionMetaData().getConnection();
    }

    synchronized void enter(Phase phase, Request request) {
        Connection connection = connection(request);
        uses.replace(connection, Use.of(phase, connection));
    }

    private synchronized void idle(Connection connection) {
        if (uses.remove(connection) != null) {
            uses.put(connection, Use.of(Phase.IDLE, connection));
        }
    }

    private void look() {
        late().forEach(connection -> connection.getEndPoint().close());
        begin();
    }

    private synchronized List<Connection> late() {
        long now = System.nanoTime();
        // An idle connection has no part of a head. It ends at the idle timeout.
        uses.replaceAll((connection, use) -> use.phase() == Phase.IDLE && connection.getBytesIn() == use.bytes()
                ? Use.of(Phase.IDLE, connection)
                : use);
        return uses.entrySet().stream()
                .filter(each -> isLate(each.getValue(), now))
                .map(Map.Entry::getKey)
                .toList();
    }

    private boolean isLate(Use use, long now) {
        long passed = now - use.sinceNanos();
        return switch (use.phase()) {
            case NEW, IDLE -> passed > limits.headTime().toNanos();
            case REPLYING -> passed > limits.replyTime().toNanos();
            case RECEIVING, ANSWERING -> false;
        };
    }
}
