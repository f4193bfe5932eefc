package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;

/** What a server answers to a request. */
sealed interface RpcAnswer {

    record Result(JsonNode value) implements RpcAnswer {}

    /** It did not do it, or did and can't say so in a way that can be read. */
    record Refusal(String words) implements RpcAnswer {}
}
