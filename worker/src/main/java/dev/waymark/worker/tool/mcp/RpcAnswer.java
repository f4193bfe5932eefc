package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.worker.tool.kind.Effect;

/** The answer to a request. */
sealed interface RpcAnswer {

    record Result(JsonNode value) implements RpcAnswer {}

    /** An error or an unreadable answer, and what it says about the request's effect. */
    record Refusal(String words, Effect effect) implements RpcAnswer {}
}
