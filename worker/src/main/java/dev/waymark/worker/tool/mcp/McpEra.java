package dev.waymark.worker.tool.mcp;

/** How a server is spoken to. */
enum McpEra {
    /** A connection begins with a handshake and may have a session: versions up to 2025-11-25. */
    HANDSHAKE,

    /** Each request says by itself which version it has: 2026-07-28. */
    STATELESS
}
