package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.worker.tool.kind.Effect;

/** What a server answers to a request. */
sealed interface RpcAnswer {

    record Result(JsonNode value) implements RpcAnswer {}

    /** An error, or an answer that cannot be read, and what it says of the effect of the request. */
    record Refusal(String words, Effect effect) implements RpcAnswer {}
}
