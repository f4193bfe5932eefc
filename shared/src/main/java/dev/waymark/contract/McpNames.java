package dev.waymark.contract;

import java.util.List;

/** The names and numbers of MCP that the client of workers and the server have in common. */
public final class McpNames {
    /** The version whose requests need no handshake. */
    public static final String MODERN = "2026-07-28";

    /** The versions that begin with {@code initialize}, newest first. */
    public static final List<String> HANDSHAKE = List.of("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05");

    public static final String META = "_meta";
    private static final String PREFIX = "io.modelcontextprotocol/";
    public static final String PROTOCOL_VERSION = PREFIX + "protocolVersion";
    public static final String CLIENT_INFO = PREFIX + "clientInfo";
    public static final String CLIENT_CAPABILITIES = PREFIX + "clientCapabilities";
    public static final String SERVER_INFO = PREFIX + "serverInfo";
    public static final String TASKS = PREFIX + "tasks";
    public static final String PROGRESS_TOKEN = "progressToken";

    /** Makes a call repeatable: calls of one caller with the same key start one thread. */
    public static final String IDEMPOTENCY_KEY = "dev.waymark/idempotency-key";
    /** The id of the thread that a result is from. */
    public static final String THREAD = "dev.waymark/thread";

    public static final String VERSION_HEADER = "MCP-Protocol-Version";
    public static final String METHOD_HEADER = "Mcp-Method";
    public static final String NAME_HEADER = "Mcp-Name";

    public static final String INITIALIZE = "initialize";
    public static final String PING = "ping";
    public static final String DISCOVER = "server/discover";
    public static final String LIST_TOOLS = "tools/list";
    public static final String CALL_TOOL = "tools/call";
    public static final String GET_TASK = "tasks/get";
    public static final String UPDATE_TASK = "tasks/update";
    public static final String CANCEL_TASK = "tasks/cancel";
    public static final String ELICIT = "elicitation/create";

    public static final String CANCELLED = "notifications/cancelled";
    public static final String PROGRESS = "notifications/progress";

    public static final int PARSE_ERROR = -32700;
    public static final int INVALID_REQUEST = -32600;
    public static final int METHOD_NOT_FOUND = -32601;
    public static final int INVALID_PARAMS = -32602;
    public static final int INTERNAL_ERROR = -32603;
    public static final int HEADER_MISMATCH = -32020;
    public static final int MISSING_CAPABILITY = -32021;
    public static final int UNSUPPORTED_VERSION = -32022;

    private McpNames() {}
}
