package dev.waymark.testkit.crash;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A TCP proxy on loopback, in front of a server that a test makes unreachable for a while, or far away. Thread-safe.
 *
 * <pre>{@code
 * try (CuttableProxy proxy = new CuttableProxy(address)) {
 *     Connection connection = Connection.to(proxy.address());
 *     // start a worker with it …
 *     proxy.cut();
 *     // the worker can reach nothing …
 *     proxy.reconnect();
 * }
 * }</pre>
 */
public final class CuttableProxy implements AutoCloseable {
    private final InetSocketAddress target;
    private final Duration delay;
    private final ServerSocket door;
    private final Set<Wire> wires = ConcurrentHashMap.newKeySet();
    private volatile State state = State.WHOLE;

    private enum State {
        WHOLE,
        CUT,
        SILENT
    }

    /** Marks the end of a connection. */
    private static final byte[] END = {};

    /** @param due when it arrives, in nanoseconds */
    private record Chunk(byte[] bytes, long due) {}

    /** @param target the server's address, as {@code host:port} */
    public CuttableProxy(String target) throws IOException {
        this(target, Duration.ZERO);
    }

    /**
     * @param target the server's address, as {@code host:port}
     * @param delay the delay of all data in each direction, as with a distant server
     */
    public CuttableProxy(String target, Duration delay) throws IOException {
        this.delay = delay;
        int colon = target.lastIndexOf(':');
        this.target = new InetSocketAddress(target.substring(0, colon), Integer.parseInt(target.substring(colon + 1)));
        this.door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        daemon(this::accept);
    }

    /** Returns the address of the proxy, as {@code host:port}. */
    public String address() {
        return "127.0.0.1:" + door.getLocalPort();
    }

    /** Closes all connections, and every new connection at once. */
    public void cut() {
        state = State.CUT;
        wires.forEach(Wire::close);
    }

    /** Keeps all connections, but drops all data on them and on new ones, even after {@link #reconnect}. */
    public void silence() {
        state = State.SILENT;
        wires.forEach(wire -> wire.silent = true);
    }

    /** Forwards new connections again. */
    public void reconnect() {
        state = State.WHOLE;
    }

    @Override
    public void close() {
        cut();
        try {
            door.close();
        } catch (IOException e) {
            // Already closed.
        }
    }

    private void accept() {
        while (!door.isClosed()) {
            try {
                Wire wire = new Wire(door.accept());
                wires.add(wire);
                wire.connect();
            } catch (IOException e) {
                // The client will retry.
            }
        }
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work, "proxy");
        thread.setDaemon(true);
        thread.start();
    }

    private final class Wire {
        private final Socket near;
        private final Socket far = new Socket();
        private volatile boolean silent = state == State.SILENT;

        Wire(Socket near) {
            this.near = near;
        }

        void connect() throws IOException {
            try {
                far.connect(target);
                if (state == State.CUT) {
                    close();
                    return;
                }
                near.setTcpNoDelay(true);
                far.setTcpNoDelay(true);
                pump(near.getInputStream(), far.getOutputStream());
                pump(far.getInputStream(), near.getOutputStream());
            } catch (IOException e) {
                close();
                throw e;
            }
        }

        private void pump(InputStream from, OutputStream to) {
            BlockingQueue<Chunk> onTheWay = new LinkedBlockingQueue<>();
            daemon(() -> read(from, onTheWay));
            daemon(() -> write(onTheWay, to));
        }

        private void read(InputStream from, BlockingQueue<Chunk> onTheWay) {
            byte[] buffer = new byte[64 * 1024];
            try {
                for (int count = from.read(buffer); count >= 0; count = from.read(buffer)) {
                    if (!silent) {
                        onTheWay.add(new Chunk(Arrays.copyOf(buffer, count), System.nanoTime() + delay.toNanos()));
                    }
                }
            } catch (IOException e) {
                // A broken connection counts as closed.
            }
            onTheWay.add(new Chunk(END, System.nanoTime()));
        }

        private void write(BlockingQueue<Chunk> onTheWay, OutputStream to) {
            try {
                for (Chunk chunk = onTheWay.take(); chunk.bytes() != END; chunk = onTheWay.take()) {
                    TimeUnit.NANOSECONDS.sleep(chunk.due() - System.nanoTime());
                    if (!silent) {
                        to.write(chunk.bytes());
                    }
                }
            } catch (IOException e) {
                // Closed from the other side.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            if (!silent) {
                close();
            }
        }

        void close() {
            wires.remove(this);
            for (Socket end : List.of(near, far)) {
                try {
                    end.close();
                } catch (IOException e) {
                    // Already closed.
                }
            }
        }
    }
}
