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
 * A Temporal server in this JVM's memory that other processes can use. It listens on loopback only; {@code
 * TestServer.createPortBoundServer} would bind every interface, without authentication. It does not skip time, and it
 * forgets everything when closed.
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
     * Starts a server on loopback.
     *
     * @param port 0 for any free port
     * @throws UncheckedIOException if the port is taken
     */
    public static InMemoryServer start(int port) {
        return start(port, Optional.empty());
    }

    /** Like {@link #start(int)}. By default, clients on this machine save named threads to the saver. */
    static InMemoryServer start(int port, Optional<String> defaultSaver) {
        boolean lockTimeSkipping = true;
        TestServicesStarter services = new TestServicesStarter(lockTimeSkipping, 0);
        NettyServerBuilder builder = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", port))
                // Clients send keep-alive pings every 10 s. By default gRPC disconnects clients that ping so often.
                .permitKeepAliveTime(5, TimeUnit.SECONDS)
                .permitKeepAliveWithoutCalls(true)
                .intercept(new LateCancellations(services.getWorkflowService()))
                .intercept(new UpdateOrder());
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

    /** The port on loopback. */
    public int port() {
        return server.getPort();
    }

    @Override
    public void close() {
        server.shutdownNow();
        services.close();
    }
}
