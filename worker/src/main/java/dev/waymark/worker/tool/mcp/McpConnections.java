package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.agent.McpServer;
import dev.waymark.agent.McpTool;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.tool.kind.EffectKeys;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The servers that this worker uses: one connection for each definition, whatever number of threads use it. It is opened
 * when it is first needed, and again when it has gone. Thread-safe.
 *
 * <pre>{@code
 * try (McpConnections servers = new McpConnections(System.getenv(), agentsDirectory)) {
 *     McpResult result = servers.call(tool, args, keys, ProcessFence.in(Duration.ofSeconds(60)));
 * }
 * }</pre>
 */
public final class McpConnections implements AutoCloseable {
    /** In a call's {@code _meta}. */
    private static final String KEY = "dev.waymark/idempotency-key";

    private static final String FENCING_TOKEN = "dev.waymark/fencing-token";

    private final Map<String, String> environment;
    private final Path directory;
    private final Map<McpServer, Slot> slots = new ConcurrentHashMap<>();

    /**
     * @param environment the worker's own, from which programs get a few variables and {@code ${NAME}} is resolved
     * @param directory where programs are started
     */
    public McpConnections(Map<String, String> environment, Path directory) {
        this.environment = Collections.unmodifiableMap(new LinkedHashMap<>(environment));
        this.directory = directory;
    }

    /** At most one connection, and whoever waits for it. */
    private static final class Slot {
        private final ReentrantLock lock = new ReentrantLock();
        private Optional<McpConnection> connection = Optional.empty();
    }

    /** What to do with a connection. */
    private interface Use<R> {
        R with(McpConnection connection)
                throws RequestNotSentException, OutcomeUnknownException, UnusableServerException, InterruptedException;
    }

    /**
     * Calls a tool, at most once.
     *
     * @param keys go with the call in its {@code _meta}, as {@code dev.waymark/idempotency-key} and
     *     {@code dev.waymark/fencing-token}
     * @throws RequestNotSentException when it was certainly not called
     * @throws OutcomeUnknownException when nobody knows whether it did anything
     */
    public McpResult call(McpTool tool, Json args, EffectKeys keys, ProcessFence fence)
            throws RequestNotSentException, OutcomeUnknownException, InterruptedException {
        ObjectNode params = JsonRpc.object().put("name", tool.tool());
        params.set("arguments", JsonRpc.tree(args));
        ObjectNode meta = JsonRpc.object();
        keys.idempotencyKey().ifPresent(key -> meta.put(KEY, key));
        keys.fencingToken().ifPresent(token -> meta.put(FENCING_TOKEN, token));
        if (!meta.isEmpty()) {
            params.set("_meta", meta);
        }
        try {
            return use(
                    tool.server(),
                    fence,
                    connection -> McpResult.of(connection.call(params, fence, keys.equals(EffectKeys.NONE))));
        } catch (UnusableServerException e) {
            throw new IllegalStateException("only a list of tools can be", e);
        }
    }

    List<RemoteTool> tools(McpServer server, ProcessFence fence)
            throws RequestNotSentException, OutcomeUnknownException, UnusableServerException, InterruptedException {
        return use(server, fence, connection -> connection.tools(fence));
    }

    /** A connection that turns out to have gone before anything was sent is replaced once. */
    private <R> R use(McpServer server, ProcessFence fence, Use<R> use)
            throws RequestNotSentException, OutcomeUnknownException, UnusableServerException, InterruptedException {
        Optional<McpConnection> known = known(server, fence);
        if (known.isPresent()) {
            try {
                return use.with(known.get());
            } catch (RequestNotSentException e) {
                forget(server, known.get());
            }
        }
        return use.with(connection(server, fence));
    }

    /** One that is there already. */
    private Optional<McpConnection> known(McpServer server, ProcessFence fence)
            throws RequestNotSentException, InterruptedException {
        Slot slot = locked(server, fence);
        try {
            if (slot.connection.isPresent() && !slot.connection.get().isUsable()) {
                slot.connection.get().close();
                slot.connection = Optional.empty();
            }
            return slot.connection;
        } finally {
            slot.lock.unlock();
        }
    }

    private McpConnection connection(McpServer server, ProcessFence fence)
            throws RequestNotSentException, InterruptedException {
        Slot slot = locked(server, fence);
        try {
            if (slot.connection.isEmpty()) {
                slot.connection = Optional.of(McpConnection.open(server, environment, directory, fence));
            }
            return slot.connection.get();
        } finally {
            slot.lock.unlock();
        }
    }

    private Slot locked(McpServer server, ProcessFence fence) throws RequestNotSentException, InterruptedException {
        Slot slot = slots.computeIfAbsent(server, definition -> new Slot());
        if (!slot.lock.tryLock(fence.left().toMillis(), TimeUnit.MILLISECONDS)) {
            throw new RequestNotSentException("it has not been ready in time");
        }
        return slot;
    }

    private void forget(McpServer server, McpConnection connection) throws InterruptedException {
        Slot slot = Objects.requireNonNull(slots.get(server));
        slot.lock.lockInterruptibly();
        try {
            if (slot.connection.filter(current -> current == connection).isPresent()) {
                slot.connection = Optional.empty();
            }
        } finally {
            slot.lock.unlock();
        }
        connection.close();
    }

    /** Ends all servers that are programs of this worker, and all sessions. */
    @Override
    public void close() {
        slots.values().parallelStream().forEach(slot -> {
            slot.lock.lock();
            try {
                slot.connection.ifPresent(McpConnection::close);
                slot.connection = Optional.empty();
            } finally {
                slot.lock.unlock();
            }
        });
    }
}
