package dev.waymark.bench;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A TCP proxy that simulates a distant server: it delays all data in both directions. */
public final class DelayingProxy implements AutoCloseable {
    private final String host;
    private final int port;
    private final Duration delay;
    private final ServerSocket door;

    /** @param target {@code host:port} */
    public DelayingProxy(String target, Duration delay) throws IOException {
        int colon = target.lastIndexOf(':');
        this.host = target.substring(0, colon);
        this.port = Integer.parseInt(target.substring(colon + 1));
        this.delay = delay;
        this.door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    public String address() {
        return "127.0.0.1:" + door.getLocalPort();
    }

    private record Chunk(byte[] bytes, long due) {}

    private void accept() {
        while (!door.isClosed()) {
            try {
                connect(door.accept());
            } catch (IOException e) {
                // The client will retry.
            }
        }
    }

    /** Connects a client to the target, or closes its connection if that fails. */
    private void connect(Socket near) throws IOException {
        Socket far = new Socket();
        try {
            far.connect(new InetSocketAddress(host, port));
            near.setTcpNoDelay(true);
            far.setTcpNoDelay(true);
            pump(near, far);
            pump(far, near);
        } catch (IOException e) {
            near.close();
            far.close();
            throw e;
        }
    }

    private void pump(Socket from, Socket to) throws IOException {
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream();
        BlockingQueue<Chunk> onTheWay = new LinkedBlockingQueue<>();
        start(() -> {
            byte[] buffer = new byte[64 * 1024];
            try {
                for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                    onTheWay.add(new Chunk(Arrays.copyOf(buffer, count), System.nanoTime() + delay.toNanos()));
                }
            } catch (IOException e) {
                // A broken connection counts as closed.
            }
            onTheWay.add(new Chunk(new byte[0], System.nanoTime()));
        });
        start(() -> {
            try (from;
                    to) {
                for (Chunk chunk = onTheWay.take(); chunk.bytes().length > 0; chunk = onTheWay.take()) {
                    TimeUnit.NANOSECONDS.sleep(chunk.due() - System.nanoTime());
                    out.write(chunk.bytes());
                    out.flush();
                }
            } catch (IOException e) {
                // The other side has closed the connection.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work, "far server");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        door.close();
    }
}
