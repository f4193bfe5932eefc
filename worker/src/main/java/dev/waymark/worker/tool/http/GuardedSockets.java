package dev.waymark.worker.tool.http;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.net.SocketAddress;
import java.util.function.Predicate;
import javax.net.SocketFactory;

/**
 * Sockets that connect only to addresses that may be reached. They look at the very address that they are about to
 * connect to: however it was spelled, whatever name led to it, and whatever that name leads to a moment later. They go
 * through no proxy, which would connect to addresses of its own choice.
 */
final class GuardedSockets extends SocketFactory {
    private final Predicate<InetAddress> reachable;

    GuardedSockets(Predicate<InetAddress> reachable) {
        this.reachable = reachable;
    }

    /** That a connection was not even tried. */
    static final class Refused extends IOException {
        Refused() {
            super("its address is private, and the tool does not say allow_private: true");
        }
    }

    @Override
    public Socket createSocket() {
        return new Socket(Proxy.NO_PROXY) {
            @Override
            public void connect(SocketAddress endpoint, int timeout) throws IOException {
                if (!(endpoint instanceof InetSocketAddress internet)
                        || internet.isUnresolved()
                        || !reachable.test(internet.getAddress())) {
                    throw new Refused();
                }
                super.connect(endpoint, timeout);
            }
        };
    }

    @Override
    public Socket createSocket(String host, int port) {
        throw connectsAtOnce();
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress localHost, int localPort) {
        throw connectsAtOnce();
    }

    @Override
    public Socket createSocket(InetAddress host, int port) {
        throw connectsAtOnce();
    }

    @Override
    public Socket createSocket(InetAddress address, int port, InetAddress localAddress, int localPort) {
        throw connectsAtOnce();
    }

    private static UnsupportedOperationException connectsAtOnce() {
        return new UnsupportedOperationException("only sockets that are connected later");
    }
}
