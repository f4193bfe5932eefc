package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.agent.DeferredTools;
import dev.waymark.contract.McpNames;
import dev.waymark.worker.process.ProcessFence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A connection to a server of a known {@link McpEra era}. Thread-safe. */
final class McpConnection implements AutoCloseable {
    static final int MOST_TOOLS = DeferredTools.MOST_TOOLS;
    private static final int MOST_PAGES = 200;

    /** Time that a server has to answer a ping. */
    private static final Duration SIGN_OF_LIFE = Duration.ofSeconds(5);

    /**
     * The server may have dropped a session that was idle for this long. The session is checked before the next call,
     * so that a call that may take effect does not fail because its session is gone.
     */
    private static final Duration IDLE = Duration.ofSeconds(10);

    private final McpChannel channel;
    private final McpEra era;
    private volatile boolean doubtful;
    private volatile long lastUse = System.nanoTime();

    McpConnection(McpChannel channel, McpEra era) {
        this.channel = channel;
        this.era = era;
    }

    McpEra era() {
        return era;
    }

    /**
     * All tools, in the server's order. If two tools have the same name, the first one is kept, because only that one
     * can be called.
     */
    ToolList tools(ProcessFence fence)
            throws RequestNotSentException, OutcomeUnknownException, UnusableServerException, InterruptedException {
        List<RemoteTool> tools = new ArrayList<>();
        Duration fresh = ToolList.LONGEST_USE;
        ObjectNode page = JsonRpc.object();
        for (int pages = 0; pages < MOST_PAGES; pages++) {
            RpcAnswer answer = ask(RpcRequest.of(McpNames.LIST_TOOLS, page), fence);
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
            Duration said = Duration.ofMillis(Math.max(0, listed.path("ttlMs").asLong()));
            fresh = said.compareTo(fresh) < 0 ? said : fresh;
            String next = listed.path("nextCursor").asText("");
            if (next.isEmpty()) {
                return new ToolList(tools, fresh);
            }
            page = JsonRpc.object().put("cursor", next);
        }
        throw new UnusableServerException("its list of tools does not end");
    }

    RpcAnswer ask(RpcRequest request, ProcessFence fence)
            throws RequestNotSentException, OutcomeUnknownException, InterruptedException {
        lastUse = System.nanoTime();
        try {
            RpcAnswer answer = channel.ask(era == McpEra.STATELESS ? request.stateless() : request, fence);
            if (answer instanceof RpcAnswer.Refusal refusal) {
                doubtful |= mayHaveChangedEra(refusal);
                if (!request.once() && !channel.isOpen()) {
                    throw new RequestNotSentException(refusal.words());
                }
            }
            return answer;
        } catch (OutcomeUnknownException e) {
            doubtful |= e.isLate();
            throw e;
        }
    }

    /** Whether another version of the server may have refused the request. */
    private boolean mayHaveChangedEra(RpcAnswer.Refusal refusal) {
        return refusal.isOfStatelessServers()
                || (era == McpEra.STATELESS && refusal.error().isMissingNode());
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
     * Whether the connection can be used. Sends a request after a missed deadline, after an answer that another version
     * of the server may have given, or if the server may have dropped the session while it was idle.
     */
    boolean isUsable() throws InterruptedException {
        if (!channel.isOpen()) {
            return false;
        }
        if (isInDoubt()) {
            try {
                if (!isAlive()) {
                    return false;
                }
                doubtful = false;
            } catch (RequestNotSentException | OutcomeUnknownException e) {
                return false;
            }
            lastUse = System.nanoTime();
        }
        return channel.isOpen();
    }

    private boolean isAlive() throws RequestNotSentException, OutcomeUnknownException, InterruptedException {
        ProcessFence fence = ProcessFence.in(SIGN_OF_LIFE);
        if (era == McpEra.STATELESS) {
            return McpOpening.Discovery.of(channel.ask(McpOpening.DISCOVER, fence))
                    .knows(McpNames.MODERN);
        }
        RpcAnswer answer = channel.ask(RpcRequest.of(McpNames.PING, JsonRpc.object()), fence);
        return !(answer instanceof RpcAnswer.Refusal refusal && refusal.isOfStatelessServers());
    }

    @Override
    public void close() {
        channel.close();
    }
}
