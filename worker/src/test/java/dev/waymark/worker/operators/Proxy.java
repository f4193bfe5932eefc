package dev.waymark.worker.operators;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A cable to a server that can be pulled out, and one that looks plugged in when it is not. */
final class Proxy implements AutoCloseable {
    private final InetSocketAddress target;
    private final ServerSocket door;
    private final Set<Wire> wires = ConcurrentHashMap.newKeySet();
    private volatile State state = State.WHOLE;

    private enum State {
        WHOLE,
        CUT,
        SILENT
    }

    /** {@code target} is {@code host:port}. */
    Proxy(String target) throws IOException {
        int colon = target.lastIndexOf(':');
        this.target = new InetSocketAddress(target.substring(0, colon), Integer.parseInt(target.substring(colon + 1)));
        this.door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        daemon(this::accept);
    }

    String address() {
        return "127.0.0.1:" + door.getLocalPort();
    }

    /** Every connection breaks, and new ones too. */
    void cut() {
        state = State.CUT;
        wires.forEach(Wire::close);
    }

    /** Every connection stays, and nothing comes through it any more: not now, and not when this is mended. */
    void silence() {
        state = State.SILENT;
        wires.forEach(wire -> wire.silent = true);
    }

    /** New connections work. */
    void mend() {
        state = State.WHOLE;
    }

    @Override
    public void close() {
        cut();
        try {
            door.close();
        } catch (IOException e) {
            // It is gone, then.
        }
    }

    private void accept() {
        while (!door.isClosed()) {
            try {
                Wire wire = new Wire(door.accept());
                wires.add(wire);
                wire.connect();
            } catch (IOException e) {
                // Whoever wanted to connect tries again.
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
                InputStream up = near.getInputStream();
                OutputStream upTo = far.getOutputStream();
                InputStream down = far.getInputStream();
                OutputStream downTo = near.getOutputStream();
                daemon(() -> pump(up, upTo));
                daemon(() -> pump(down, downTo));
            } catch (IOException e) {
                close();
                throw e;
            }
        }

        private void pump(InputStream from, OutputStream to) {
            byte[] buffer = new byte[16 * 1024];
            try {
                for (int count = from.read(buffer); count >= 0; count = from.read(buffer)) {
                    if (!silent) {
                        to.write(buffer, 0, count);
                    }
                }
            } catch (IOException e) {
                // Closed from the other side.
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
                    // It is gone, then.
                }
            }
        }
    }
}
