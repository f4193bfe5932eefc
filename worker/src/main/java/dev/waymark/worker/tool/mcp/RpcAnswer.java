package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.worker.tool.kind.Effect;

/** The result of a request, or the reason why there is none. */
sealed interface RpcAnswer {

    record Result(JsonNode value) implements RpcAnswer {}

    /** An error or an unreadable answer, with what it shows about the effect. */
    record Refusal(String words, Effect effect) implements RpcAnswer {}
}
