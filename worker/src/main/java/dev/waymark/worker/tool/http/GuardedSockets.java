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
 * Sockets that connect to permitted addresses only. They check the very address that they connect to, so neither its
 * spelling nor a host name that resolves differently a moment later can bypass the check. They use no proxy, because a
 * proxy would choose the addresses that it connects to.
 */
final class GuardedSockets extends SocketFactory {
    private final Predicate<InetAddress> reachable;

    GuardedSockets(Predicate<InetAddress> reachable) {
        this.reachable = reachable;
    }

    /** The address is not permitted, so the connection was not attempted. */
    static final class Refused extends IOException {
        Refused() {
            super("its address is private, and the tool does not set allow_private: true");
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
        return new UnsupportedOperationException("this factory only creates unconnected sockets");
    }
}
