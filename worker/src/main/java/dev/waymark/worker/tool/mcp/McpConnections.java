package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.agent.McpServer;
import dev.waymark.agent.McpToken;
import dev.waymark.agent.McpTool;
import dev.waymark.contract.McpNames;
import dev.waymark.conversation.call.Suspension;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.outbound.HeaderSecret;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.secret.Secrets;
import dev.waymark.worker.tool.kind.Effect;
import dev.waymark.worker.tool.kind.EffectKeys;
import dev.waymark.worker.tool.kind.ToolRun;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The MCP servers of this worker: one connection for each definition, shared by all threads. A connection is opened on
 * first use, and again after it is lost. Thread-safe.
 *
 * <pre>{@code
 * try (McpConnections servers = new McpConnections(System.getenv(), agentsDirectory)) {
 *     ProcessFence fence = ProcessFence.in(Duration.ofSeconds(60));
 *     McpResult result = servers.call(tool, input, args, keys, ToolRun.ServerTurn.ONLY, fence);
 * }
 * }</pre>
 */
public final class McpConnections implements AutoCloseable {
    private static final String FENCING_TOKEN = "dev.waymark/fencing-token";
    private static final String TRACEPARENT = "traceparent";

    /** Errors after which a tool's definition is outdated: the tool is unknown, or has other parameters or headers. */
    private static final Set<Integer> DEFINITION_CHANGED =
            Set.of(McpNames.HEADER_MISMATCH, McpNames.METHOD_NOT_FOUND, McpNames.INVALID_PARAMS);

    private final Map<String, String> environment;
    private final Path directory;
    private final Map<McpServer, Slot> slots = new ConcurrentHashMap<>();

    /**
     * @param environment the worker's environment: the source of inherited variables and of {@code ${NAME}}
     * @param directory the directory in which programs run
     */
    public McpConnections(Map<String, String> environment, Path directory) {
        this.environment = Collections.unmodifiableMap(new LinkedHashMap<>(environment));
        this.directory = directory;
    }

    /** At most one connection, with a lock for the threads that wait for it, and the known facts about the server. */
    private static final class Slot {
        private final ReentrantLock lock = new ReentrantLock();
        private Optional<McpConnection> connection = Optional.empty();
        private Optional<McpEra> era = Optional.empty();
        private final Optional<HeaderSecret> token;
        private volatile Optional<Listed> listed = Optional.empty();

        Slot(Optional<HeaderSecret> token) {
            this.token = token;
        }
    }

    /** Tools that need not be listed again before this time of {@link System#nanoTime()}. */
    private record Listed(List<RemoteTool> tools, long until) {
        boolean isFresh() {
            return System.nanoTime() - until < 0;
        }
    }

    /** An operation on a connection. */
    private interface Use<R> {
        R with(McpConnection connection)
                throws RequestNotSentException, OutcomeUnknownException, UnusableServerException, InterruptedException;
    }

    /**
     * Calls a tool, at most once.
     *
     * @param input the tool's input schema
     * @param turn whether the server may leave the call unfinished, and what it has said before
     * @param keys sent in the {@code _meta} of the call, as {@code dev.waymark/idempotency-key}, {@code
     * dev.waymark/fencing-token} and {@code traceparent}
     * @throws RequestNotSentException if the tool was not called
     * @throws OutcomeUnknownException if the call may have taken effect
     */
    public McpResult call(
            McpTool tool, Json input, Json args, EffectKeys keys, ToolRun.ServerTurn turn, ProcessFence fence)
            throws RequestNotSentException, OutcomeUnknownException, InterruptedException {
        JsonNode schema = JsonRpc.tree(input);
        JsonNode arguments = JsonRpc.tree(args);
        Optional<String> problem = ParameterHeaders.problem(schema, arguments);
        if (problem.isPresent()) {
            return new McpResult(problem.get(), Effect.NOT_DONE);
        }
        ObjectNode params = JsonRpc.object().put("name", tool.tool());
        params.set("arguments", arguments);
        ObjectNode meta = JsonRpc.object();
        keys.idempotencyKey().ifPresent(key -> meta.put(McpNames.IDEMPOTENCY_KEY, key));
        keys.fencingToken().ifPresent(token -> meta.put(FENCING_TOKEN, token));
        keys.traceparent().ifPresent(span -> meta.put(TRACEPARENT, span));
        if (!meta.isEmpty()) {
            params.set(McpNames.META, meta);
        }
        turn.earlier().ifPresent(earlier -> resume(params, earlier));
        RpcRequest request = RpcRequest.of(McpNames.CALL_TOOL, params)
                .about(tool.tool())
                .withHeaders(ParameterHeaders.of(schema, arguments));
        RpcRequest whole = turn.maySuspend() ? request.suspending() : request;
        RpcRequest call = keys.isSafe() ? whole : whole.sentOnce();
        try {
            RpcAnswer answer = use(tool.server(), fence, connection -> connection.ask(call, fence));
            if (answer instanceof RpcAnswer.Refusal refusal && DEFINITION_CHANGED.contains(refusal.code())) {
                Objects.requireNonNull(slots.get(tool.server())).listed = Optional.empty();
            }
            return McpResult.of(answer, turn.maySuspend());
        } catch (UnusableServerException e) {
            throw new IllegalStateException("unexpected rejection of a server that already listed its tools", e);
        }
    }

    /** Adds the state that the server wants back unchanged, and the input that it has required. */
    private static void resume(ObjectNode params, Suspension earlier) {
        earlier.requestState().ifPresent(state -> params.put("requestState", state));
        if (!earlier.answers().isEmpty()) {
            params.set("inputResponses", JsonRpc.responses(earlier));
        }
    }

    /** Sends a request that may be repeated. */
    RpcAnswer ask(McpServer server, RpcRequest request, ProcessFence fence)
            throws RequestNotSentException, OutcomeUnknownException, InterruptedException {
        try {
            return use(server, fence, connection -> connection.ask(request, fence));
        } catch (UnusableServerException e) {
            throw new IllegalStateException("unexpected rejection of a server that already listed its tools", e);
        }
    }

    /** The server's tools. They are listed again after the time for which the server has declared them valid. */
    List<RemoteTool> tools(McpServer server, ProcessFence fence)
            throws RequestNotSentException, OutcomeUnknownException, UnusableServerException, InterruptedException {
        Slot slot = slot(server);
        Optional<Listed> known = slot.listed.filter(Listed::isFresh);
        return known.isPresent() ? known.get().tools() : toolsNow(server, fence);
    }

    /** The server's tools, listed now. */
    List<RemoteTool> toolsNow(McpServer server, ProcessFence fence)
            throws RequestNotSentException, OutcomeUnknownException, UnusableServerException, InterruptedException {
        Slot slot = slot(server);
        ToolList list = use(server, fence, connection -> connection.tools(fence));
        slot.listed = Optional.of(
                new Listed(list.tools(), System.nanoTime() + list.fresh().toNanos()));
        return list.tools();
    }

    /**
     * Uses the connection to a server. If the request could not be sent, replaces the connection once and tries again.
     */
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

    /** Whether a call would find a connection that can be used, and would not have to wait for it. */
    boolean isConnected(McpServer server) {
        Slot slot = slots.get(server);
        if (slot == null || !slot.lock.tryLock()) {
            return false;
        }
        try {
            return slot.connection.filter(McpConnection::isWarm).isPresent();
        } finally {
            slot.lock.unlock();
        }
    }

    /** The existing connection, if it can still be used. */
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
                McpConnection opened = McpOpening.open(server, environment, directory, fence, slot.era, slot.token);
                slot.connection = Optional.of(opened);
                slot.era = Optional.of(opened.era());
            }
            return slot.connection.get();
        } finally {
            slot.lock.unlock();
        }
    }

    private Slot locked(McpServer server, ProcessFence fence) throws RequestNotSentException, InterruptedException {
        Slot slot = slot(server);
        if (!slot.lock.tryLock(fence.left().toMillis(), TimeUnit.MILLISECONDS)) {
            throw new RequestNotSentException("it was not ready in time");
        }
        return slot;
    }

    private Slot slot(McpServer server) {
        return slots.computeIfAbsent(
                server, definition -> new Slot(definition.token().map(token -> token(definition, token))));
    }

    private HeaderSecret token(McpServer server, McpToken token) {
        return token.client()
                .map(client -> new HeaderSecret(
                        "token",
                        client.url(),
                        1,
                        new TokenRequest(client, server, Secrets.of(server.references(), environment))))
                .orElseGet(() -> new HeaderSecret(
                        "token",
                        token.command().get(0),
                        1,
                        HeaderSecret.program(token.command(), token.env(), directory, environment)));
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

    /** Ends all server programs of this worker, and all sessions. */
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
