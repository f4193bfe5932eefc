package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.worker.tool.kind.Effect;

/** What a request led to: the server's result, or a refusal. */
sealed interface RpcAnswer {

    record Result(JsonNode value) implements RpcAnswer {}

    /** An error or an unreadable answer, with what it shows about the effect. */
    record Refusal(String words, Effect effect) implements RpcAnswer {}
}
