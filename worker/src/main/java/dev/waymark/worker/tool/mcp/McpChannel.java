package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.worker.process.ProcessFence;
import java.util.concurrent.CompletableFuture;

/** What requests to one server go through. Safe for several threads. */
interface McpChannel extends AutoCloseable {

    /** Maximum message size in bytes, including partially received messages. */
    int MOST_BYTES = 16 * 1024 * 1024;

    /** A message of this size that cannot be read is taken for the answer that somebody waits for. */
    int LARGE_BYTES = 1024 * 1024;

    String UNREADABLE = "the answer is not JSON, or has more than " + JsonRpc.MOST_TOKENS + " tokens";
    String TOO_LONG = "the answer is longer than " + MOST_BYTES + " bytes";

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
