package dev.waymark.worker.tool.mcp;

/** The generations of the protocol. */
enum McpEra {
    /** A connection begins with a handshake and may have a session: versions up to 2025-11-25. */
    HANDSHAKE,

    /** Each request names its version: 2026-07-28. */
    STATELESS
}
