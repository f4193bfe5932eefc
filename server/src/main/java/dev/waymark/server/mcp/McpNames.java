package dev.waymark.server.mcp;

import java.util.List;

/** Names and numbers of the protocol on the wire. */
final class McpNames {
    /** The version whose requests need no handshake. */
    static final String MODERN = "2026-07-28";

    /** The versions that begin with {@code initialize}, newest first. */
    static final List<String> HANDSHAKE = List.of("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05");

    static final String META = "_meta";
    private static final String PREFIX = "io.modelcontextprotocol/";
    static final String PROTOCOL_VERSION = PREFIX + "protocolVersion";
    static final String CLIENT_CAPABILITIES = PREFIX + "clientCapabilities";
    static final String SERVER_INFO = PREFIX + "serverInfo";
    static final String TASKS = PREFIX + "tasks";
    static final String PROGRESS_TOKEN = "progressToken";

    /** Makes a call repeatable: calls of one caller with the same key start one thread. */
    static final String IDEMPOTENCY_KEY = "dev.waymark/idempotency-key";
    /** The id of the thread that a result is from. */
    static final String THREAD = "dev.waymark/thread";

    static final String VERSION_HEADER = "MCP-Protocol-Version";
    static final String METHOD_HEADER = "Mcp-Method";
    static final String NAME_HEADER = "Mcp-Name";

    static final String INITIALIZE = "initialize";
    static final String PING = "ping";
    static final String DISCOVER = "server/discover";
    static final String LIST_TOOLS = "tools/list";
    static final String CALL_TOOL = "tools/call";
    static final String GET_TASK = "tasks/get";
    static final String UPDATE_TASK = "tasks/update";
    static final String CANCEL_TASK = "tasks/cancel";
    static final String ELICIT = "elicitation/create";

    static final String CANCELLED = "notifications/cancelled";
    static final String PROGRESS = "notifications/progress";

    static final int PARSE_ERROR = -32700;
    static final int INVALID_REQUEST = -32600;
    static final int METHOD_NOT_FOUND = -32601;
    static final int INVALID_PARAMS = -32602;
    static final int INTERNAL_ERROR = -32603;
    static final int HEADER_MISMATCH = -32020;
    static final int MISSING_CAPABILITY = -32021;
    static final int UNSUPPORTED_VERSION = -32022;

    private McpNames() {}
}
