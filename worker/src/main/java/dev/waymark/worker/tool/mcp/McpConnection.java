package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.agent.McpServer;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.secret.Secrets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A connection to a server after the handshake. Thread-safe. */
final class McpConnection implements AutoCloseable {
    /**
     * The version to offer. In later versions, a server may end a stream without an answer and expect the client to
     * resume it.
     */
    private static final String VERSION = "2025-06-18";

    private static final Set<String> SPOKEN = Set.of("2024-11-05", "2025-03-26", VERSION, "2025-11-25");

    static final int MOST_TOOLS = 200;
    private static final int MOST_PAGES = 200;

    /** Time that a server has to answer a ping. */
    private static final Duration SIGN_OF_LIFE = Duration.ofSeconds(5);

    /**
     * The server may have dropped a session that was idle for this long. The session is checked before the next call,
     * so that a call that may take effect does not fail because its session is gone.
     */
    private static final Duration IDLE = Duration.ofSeconds(10);

    private final McpChannel channel;
    private volatile boolean doubtful;
    private volatile long lastUse = System.nanoTime();

    private McpConnection(McpChannel channel) {
        this.channel = channel;
    }

    /** Starts or contacts the server and performs the handshake. */
    static McpConnection open(McpServer server, Map<String, String> environment, Path directory, ProcessFence fence)
            throws RequestNotSentException, InterruptedException {
        List<String> texts = new ArrayList<>(server.env().values());
        texts.addAll(server.headers().values());
        Secrets secrets = Secrets.of(texts, environment);
        if (secrets.missing().isPresent()) {
            throw new RequestNotSentException(
                    "environment variable " + secrets.missing().get() + " is not set in the worker");
        }
        McpChannel channel = server.url().isPresent()
                ? McpHttpChannel.to(server, secrets)
                : McpStdioChannel.start(server, secrets, environment, directory);
        boolean agreed = false;
        try {
            agree(channel, fence);
            agreed = true;
            return new McpConnection(channel);
        } catch (OutcomeUnknownException | ExecutionException | TimeoutException e) {
            throw new RequestNotSentException(e.getMessage() == null ? "it does not answer" : e.getMessage());
        } finally {
            if (!agreed) {
                channel.close();
            }
        }
    }

    private static void agree(McpChannel channel, ProcessFence fence)
            throws RequestNotSentException, OutcomeUnknownException, InterruptedException, ExecutionException,
                    TimeoutException {
        ObjectNode hello = JsonRpc.object().put("protocolVersion", VERSION);
        hello.set("capabilities", JsonRpc.object());
        hello.set("clientInfo", JsonRpc.object().put("name", "waymark").put("version", "0"));
        RpcAnswer answer = channel.ask("initialize", hello, fence);
        if (answer instanceof RpcAnswer.Refusal refusal) {
            throw new RequestNotSentException(refusal.words());
        }
        String version =
                ((RpcAnswer.Result) answer).value().path("protocolVersion").asText();
        if (!SPOKEN.contains(version)) {
            throw new RequestNotSentException(
                    "it speaks version \"" + version + "\" of the protocol, which is not understood here");
        }
        channel.agreed(version);
        channel.tell("notifications/initialized", JsonRpc.object())
                .get(fence.left().toMillis(), TimeUnit.MILLISECONDS);
    }

    /**
     * All tools, in the server's order. If two tools have the same name, the first one is kept, because only that one
     * can be called.
     */
    List<RemoteTool> tools(ProcessFence fence)
            throws RequestNotSentException, OutcomeUnknownException, UnusableServerException, InterruptedException {
        List<RemoteTool> tools = new ArrayList<>();
        ObjectNode page = JsonRpc.object();
        for (int pages = 0; pages < MOST_PAGES; pages++) {
            RpcAnswer answer = ask("tools/list", page, fence, true);
            if (answer instanceof RpcAnswer.Refusal refusal) {
                throw new RequestNotSentException("it does not list its tools: " + refusal.words());
            }
            JsonNode listed = ((RpcAnswer.Result) answer).value();
            for (JsonNode said : listed.path("tools")) {
                RemoteTool tool = RemoteTool.of(said);
                if (tools.stream().noneMatch(known -> known.name().equals(tool.name()))) {
                    tools.add(tool);
                }
                if (tools.size() > MOST_TOOLS) {
                    throw new UnusableServerException("it has more than " + MOST_TOOLS + " tools");
                }
            }
            String next = listed.path("nextCursor").asText("");
            if (next.isEmpty()) {
                return tools;
            }
            page.put("cursor", next);
        }
        throw new UnusableServerException("its list of tools does not end");
    }

    /** @param repeatable whether the call may be repeated if the server does not know the session */
    RpcAnswer call(ObjectNode params, ProcessFence fence, boolean repeatable)
            throws RequestNotSentException, OutcomeUnknownException, InterruptedException {
        return ask("tools/call", params, fence, repeatable);
    }

    private RpcAnswer ask(String method, ObjectNode params, ProcessFence fence, boolean repeatable)
            throws RequestNotSentException, OutcomeUnknownException, InterruptedException {
        lastUse = System.nanoTime();
        try {
            RpcAnswer answer = channel.ask(method, params, fence);
            if (repeatable && answer instanceof RpcAnswer.Refusal refusal && !channel.isOpen()) {
                throw new RequestNotSentException(refusal.words());
            }
            return answer;
        } catch (OutcomeUnknownException e) {
            doubtful |= e.isLate();
            throw e;
        }
    }

    /** Whether a call would be sent at once, without a ping before it. */
    boolean isWarm() {
        return channel.isOpen() && !isInDoubt();
    }

    private boolean isInDoubt() {
        boolean idle = System.nanoTime() - lastUse > IDLE.toNanos();
        return doubtful || (idle && channel.canLapse());
    }

    /**
     * Whether the connection can be used. Sends a ping after a missed deadline, or if the server may have dropped the
     * session while it was idle.
     */
    boolean isUsable() throws InterruptedException {
        if (!channel.isOpen()) {
            return false;
        }
        if (isInDoubt()) {
            try {
                channel.ask("ping", JsonRpc.object(), ProcessFence.in(SIGN_OF_LIFE));
                doubtful = false;
            } catch (RequestNotSentException | OutcomeUnknownException e) {
                return false;
            }
            lastUse = System.nanoTime();
        }
        return channel.isOpen();
    }

    @Override
    public void close() {
        channel.close();
    }
}
