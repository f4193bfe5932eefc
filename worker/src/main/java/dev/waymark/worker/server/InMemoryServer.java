package dev.waymark.worker.server;

import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.temporal.internal.testservice.GRPCServerHelper;
import io.temporal.internal.testservice.TestServicesStarter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A Temporal server in this JVM's memory, for other processes too. It listens on loopback only, which is why it is put
 * together here: {@code TestServer.createPortBoundServer} binds every interface, without authentication. Time passes as
 * on the wall clock, and everything is gone once it is closed.
 *
 * <pre>{@code
 * try (InMemoryServer server = InMemoryServer.start(7233)) {
 *     String target = server.address(); // 127.0.0.1:7233
 * }
 * }</pre>
 */
public final class InMemoryServer implements DevServer {

    private final TestServicesStarter services;
    private final Server server;

    private InMemoryServer(TestServicesStarter services, Server server) {
        this.services = services;
        this.server = server;
    }

    /**
     * @param port 0 takes any free one
     * @throws UncheckedIOException when the port is taken
     */
    public static InMemoryServer start(int port) {
        return start(port, Optional.empty());
    }

    /** As {@link #start(int)}. Clients on this machine keep threads that have names in the saver, by default. */
    static InMemoryServer start(int port, Optional<String> defaultSaver) {
        boolean lockTimeSkipping = true;
        TestServicesStarter services = new TestServicesStarter(lockTimeSkipping, 0);
        NettyServerBuilder builder = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", port))
                // Our clients ask every 10 s whether the link lives. By default gRPC cuts off whoever asks so often.
                .permitKeepAliveTime(5, TimeUnit.SECONDS)
                .permitKeepAliveWithoutCalls(true)
                .intercept(new LateCancellations(services.getWorkflowService()));
        defaultSaver.map(DefaultSaverHeader::new).ifPresent(builder::intercept);
        GRPCServerHelper.registerServicesAndHealthChecks(services.getServices(), builder);
        try {
            return new InMemoryServer(services, builder.build().start());
        } catch (IOException e) {
            services.close();
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String address() {
        return "127.0.0.1:" + port();
    }

    @Override
    public Optional<String> uiAddress() {
        return Optional.empty();
    }

    @Override
    public Kind kind() {
        return Kind.IN_MEMORY;
    }

    public int port() {
        return server.getPort();
    }

    @Override
    public void close() {
        server.shutdownNow();
        services.close();
    }
}
