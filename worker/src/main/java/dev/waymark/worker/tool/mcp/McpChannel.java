package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.worker.process.ProcessFence;
import java.util.concurrent.CompletableFuture;

/** The transport of requests to one server. Thread-safe. */
interface McpChannel extends AutoCloseable {

    /** Maximum size of a message in bytes, including partially received ones. */
    int MOST_BYTES = 16 * 1024 * 1024;

    /** An unreadable message that is larger than this is treated as the answer to a pending request. */
    int LARGE_BYTES = 1024 * 1024;

    String UNREADABLE = "the answer is not JSON, or has more than " + JsonRpc.MOST_TOKENS + " tokens";
    String TOO_LONG = "the answer is longer than " + MOST_BYTES + " bytes";

    /**
     * Sends a request once and waits for the answer. At the fence's deadline, and when the calling thread is
     * interrupted, the server is told that the request is canceled.
     */
    RpcAnswer ask(RpcRequest request, ProcessFence fence)
            throws RequestNotSentException, OutcomeUnknownException, InterruptedException;

    /** Sends a notification. The future completes when it is sent or has failed, never exceptionally. */
    CompletableFuture<Void> tell(String method, JsonNode params);

    /** Sets the protocol version from the handshake. */
    void agreed(String protocolVersion);

    /** Whether requests may still be answered. */
    boolean isOpen();

    /** Whether the server may drop the session silently. */
    boolean canLapse();

    /** Ends the connection. A server that was started as a program has ended when this returns. */
    @Override
    void close();
}
