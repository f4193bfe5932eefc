package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.worker.process.ProcessFence;
import java.util.concurrent.CompletableFuture;

/** What requests to one server go through. Safe for several threads. */
interface McpChannel extends AutoCloseable {

    /** No message is longer, be it that it is still coming. */
    int MOST_BYTES = 16 * 1024 * 1024;

    /**
     * Sends a request once, and waits for its answer. At the fence, and when the calling thread is interrupted, the server
     * is told that nobody waits any more.
     */
    RpcAnswer ask(String method, JsonNode params, ProcessFence fence)
            throws RequestNotSentException, OutcomeUnknownException, InterruptedException;

    /** Sends what has no answer. The future ends when it is out, or has failed, and never with an exception. */
    CompletableFuture<Void> tell(String method, JsonNode params);

    /** What both sides have agreed on. */
    void agreed(String protocolVersion);

    /** Whether requests may still be answered. */
    boolean isOpen();

    /** Whether the other side may forget the connection without a sign. */
    boolean canLapse();

    /** Returns when nothing of it is left. */
    @Override
    void close();
}
