package dev.waymark.testkit.process;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for servers that cannot choose one themselves, or that must come back at the same one.
 *
 * <p>They are below the ports of outgoing connections: while a server is down, an outgoing connection could otherwise
 * be given its port, and would prevent it from starting. They also fit into a signed 16-bit column, as Temporal's
 * database has for ports.
 */
public final class FreePort {
    private static final int LOWEST = 10_000;

    private FreePort() {}

    /** Returns a port of the loopback address that nothing listens on. */
    public static int next() throws IOException {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(LOWEST, Short.MAX_VALUE);
            try (ServerSocket probe = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return probe.getLocalPort();
            } catch (BindException e) {
                // The port is taken. Tries another one.
            }
        }
    }
}
