package dev.waymark.starter.connection;

import dev.waymark.connect.Connection;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.nio.NioEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioSocketChannel;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The event loop of all connections of a command. gRPC's own event loop runs for another second after the last
 * connection is closed, and a JVM that exits meanwhile waits 300 ms for its threads, which are in native code.
 */
public final class CommandEventLoop {
    private static final int MOST_MILLIS = 300;

    private static @Nullable EventLoopGroup group;

    private CommandEventLoop() {}

    /** Uses this event loop for all connections that are opened later. The first of them starts it. */
    static void use() {
        Connection.initializeChannels(channel -> {
            if (channel instanceof NettyChannelBuilder netty) {
                netty.eventLoopGroup(started()).channelType(NioSocketChannel.class);
            }
        });
    }

    private static synchronized EventLoopGroup started() {
        if (group == null) {
            group = new NioEventLoopGroup(0, new DefaultThreadFactory("waymark-connection", true));
        }
        return group;
    }

    /** Stops the event loop, which cuts connections that are still open. To be called just before the process exits. */
    public static synchronized void stop() {
        if (group != null) {
            group.shutdownGracefully(0, 0, TimeUnit.MILLISECONDS).awaitUninterruptibly(MOST_MILLIS);
        }
    }
}
