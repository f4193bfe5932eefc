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
 * The event loop of all connections of a command. It replaces gRPC's own event loop, which runs for another second
 * after the last connection is closed: a JVM that exits meanwhile waits 300 ms for the threads of the event loop,
 * because they are in native code.
 */
public final class CommandEventLoop {
    private static final int MOST_MILLIS = 300;

    private static @Nullable EventLoopGroup group;

    private CommandEventLoop() {}

    /** Uses this event loop for all connections that are opened later. The first of them starts the event loop. */
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
