package dev.waymark.worker.workflow;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;

/**
 * Compares consecutive requests of a thread to one model of the Messages API or of OpenAI's. A request extends the one
 * before it if it begins with the same blocks: tools, system, and then roles and blocks in order, without cache marks;
 * with OpenAI, messages or items. Except with OpenAI, the last user message may grow.
 */
final class GrowingRequests {
    private GrowingRequests() {}

    /** The requests that do not extend the one before, each with the first block that differs. */
    static List<String> breaks(List<JsonNode> bodies) {
        List<String> breaks = new ArrayList<>();
        for (int i = 1; i < bodies.size(); i++) {
            List<String> before = blocks(bodies.get(i - 1));
            List<String> now = blocks(bodies.get(i));
            for (int j = 0; j < before.size(); j++) {
                String block = j < now.size() ? now.get(j) : "nothing";
                if (!before.get(j).equals(block)) {
                    breaks.add("request " + i + ", block " + j + ": " + before.get(j) + " became " + block);
                    break;
                }
            }
        }
        return breaks;
    }

    private static List<String> blocks(JsonNode body) {
        List<String> blocks = new ArrayList<>();
        blocks.add("tools " + unmarked(body.path("tools")));
        blocks.add("system " + unmarked(body.path("system")) + body.path("instructions"));
        for (JsonNode message : body.path("messages")) {
            if (body.has("system")) {
                for (JsonNode block : message.path("content")) {
                    blocks.add(message.path("role").asText() + " " + unmarked(block));
                }
            } else {
                blocks.add(message.toString());
            }
        }
        body.path("input").forEach(item -> blocks.add(item.toString()));
        return blocks;
    }

    private static JsonNode unmarked(JsonNode node) {
        JsonNode copy = node.deepCopy();
        if (copy instanceof ObjectNode block) {
            block.remove("cache_control");
        }
        copy.forEach(each -> {
            if (each instanceof ObjectNode block) {
                block.remove("cache_control");
            }
        });
        return copy;
    }
}
