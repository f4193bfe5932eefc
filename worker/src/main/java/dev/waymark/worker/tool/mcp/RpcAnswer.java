package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.worker.tool.kind.Effect;

/** The answer to a request. */
sealed interface RpcAnswer {

    record Result(JsonNode value) implements RpcAnswer {}

    /** An error or an unreadable answer, with the effect that can be concluded from it. */
    record Refusal(String words, Effect effect) implements RpcAnswer {}
}
