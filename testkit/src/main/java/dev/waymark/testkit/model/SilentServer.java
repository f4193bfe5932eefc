package dev.waymark.testkit.model;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A model service on 127.0.0.1 that accepts requests and goes silent: after its first output, it sends nothing but
 * keep-alives. It detects when a client closes its connection. Thread-safe.
 *
 * <pre>{@code
 * try (SilentServer service = SilentServer.streaming("", ": keep-alive\n\n")) {
 *     // … call a model at service.address(), and give it up
 *     service.awaitDisconnects(1);
 * }
 * }</pre>
 */
public final class SilentServer implements AutoCloseable {
    private static final String STREAM = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    private static final String HEAD_END = "\r\n\r\n";
    private static final String LAST_CHUNK = "0\r\n\r\n";
    private static final Pattern LENGTH = Pattern.compile("content-length: *(\\d+)");
    private static final int KEEP_ALIVE_MILLIS = 100;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final ServerSocket service;
    private final String first;
    private final String keepAlive;
    private final Set<Socket> connections = new HashSet<>();
    private int requests;
    private int disconnects;

    private SilentServer(String first, String keepAlive) {
        this.first = first;
        this.keepAlive = keepAlive;
        try {
            service = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        start(this::accept, "silent service");
    }

    /** A service that sends nothing at all, not even headers. */
    public static SilentServer mute() {
        return new SilentServer("", "");
    }

    /**
     * A service that sends the headers of a stream and these server-sent events.
     *
     * @param events as they are on the wire; they may be empty
     * @param keepAlive text that is then sent ten times a second; if it is empty, nothing is sent
     */
    public static SilentServer streaming(String events, String keepAlive) {
        return new SilentServer(STREAM + events, keepAlive);
    }

    /** Its address, without a path. */
    public String address() {
        return "http://127.0.0.1:" + service.getLocalPort();
    }

    /** The number of requests that have arrived completely. */
    public synchronized int requests() {
        return requests;
    }

    /** Waits until this many requests have arrived completely. */
    public synchronized void awaitRequests(int count) throws InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (requests < count) {
            await(end, "only " + requests + " of " + count + " requests arrived");
        }
    }

    /** Waits until this many clients have closed their connections after their request. */
    public synchronized void awaitDisconnects(int count) throws InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (disconnects < count) {
            await(end, "only " + disconnects + " of " + count + " clients closed their connections");
        }
    }

    private void await(long end, String otherwise) throws InterruptedException {
        long left = Duration.ofNanos(end - System.nanoTime()).toMillis();
        if (left <= 0) {
            throw new AssertionError(otherwise);
        }
        wait(left);
    }

    private static void start(Runnable work, String name) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        try {
            while (true) {
                Socket connection = service.accept();
                synchronized (this) {
                    connections.add(connection);
                }
                start(() -> serve(connection), "silent service's connection");
            }
        } catch (IOException e) {
            // The server was closed.
        }
    }

    private void serve(Socket connection) {
        try (connection) {
            if (!readRequest(connection.getInputStream())) {
                return;
            }
            connection.getOutputStream().write(first.getBytes(StandardCharsets.UTF_8));
            count(true);
            awaitEnd(connection);
        } catch (IOException e) {
            // The client is gone.
        }
        count(false);
    }

    private synchronized void count(boolean request) {
        if (request) {
            requests++;
        } else {
            disconnects++;
        }
        notifyAll();
    }

    /** Whether a whole request has arrived. */
    private static boolean readRequest(InputStream in) throws IOException {
        StringBuilder read = new StringBuilder();
        byte[] buffer = new byte[8192];
        while (!isWhole(read)) {
            int count = in.read(buffer);
            if (count < 0) {
                return false;
            }
            read.append(new String(buffer, 0, count, StandardCharsets.ISO_8859_1));
        }
        return true;
    }

    private static boolean isWhole(StringBuilder read) {
        int headEnd = read.indexOf(HEAD_END);
        if (headEnd < 0) {
            return false;
        }
        Matcher length = LENGTH.matcher(read.substring(0, headEnd).toLowerCase(Locale.ROOT));
        return length.find()
                ? read.length() >= headEnd + HEAD_END.length() + Integer.parseInt(length.group(1))
                : read.substring(headEnd + HEAD_END.length()).endsWith(LAST_CHUNK);
    }

    private void awaitEnd(Socket connection) throws IOException {
        connection.setSoTimeout(KEEP_ALIVE_MILLIS);
        byte[] alive = keepAlive.getBytes(StandardCharsets.UTF_8);
        while (true) {
            try {
                if (connection.getInputStream().read() < 0) {
                    return;
                }
            } catch (SocketTimeoutException e) {
                connection.getOutputStream().write(alive);
            }
        }
    }

    @Override
    public void close() {
        Set<Socket> open;
        synchronized (this) {
            open = new HashSet<>(connections);
        }
        try {
            service.close();
            for (Socket connection : open) {
                connection.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
