package dev.waymark.server.agui;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.thread.StatusReport;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.PendingItem;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.server.front.MessageIds;
import dev.waymark.server.front.PendingId;
import java.util.List;

/** Converts messages, state and interrupts to AG-UI JSON. */
final class AgUiDocuments {
    private AgUiDocuments() {}

    /** The messages of the conversation, including tool results that the transcript does not have yet. */
    static ArrayNode messages(Conversation state) {
        ArrayNode list = PayloadJson.MAPPER.createArrayNode();
        state.transcript().entries().toList().forEach(entry -> add(list, entry));
        state.uncommittedResults().forEach(result -> list.add(result(result)));
        return list;
    }

    private static void add(ArrayNode list, Transcript.Entry entry) {
        Message message = entry.message();
        if (!message.toolResults().isEmpty()) {
            message.toolResults().forEach(result -> list.add(result(result)));
            return;
        }
        ObjectNode document = list.addObject();
        document.put("id", MessageIds.of(entry));
        document.put("role", message.role() == Role.ASSISTANT ? "assistant" : "user");
        document.put("content", message.text());
        List<Part.ToolUse> uses = message.toolUses();
        if (!uses.isEmpty()) {
            ArrayNode calls = document.putArray("toolCalls");
            uses.forEach(use -> {
                ObjectNode call = calls.addObject();
                call.put("id", use.id());
                call.put("type", "function");
                call.putObject("function")
                        .put("name", use.name())
                        .put("arguments", use.input().canonical());
            });
        }
    }

    private static ObjectNode result(Part.ToolResult result) {
        ObjectNode document = PayloadJson.MAPPER.createObjectNode();
        document.put("id", MessageIds.ofResult(result.toolUseId()));
        document.put("role", "tool");
        document.put("toolCallId", result.toolUseId());
        document.put("content", result.content());
        if (result.isError()) {
            document.put("error", result.content());
        }
        return document;
    }

    static ObjectNode state(String thread, Conversation state) {
        StatusReport status = StatusReport.of(state);
        ObjectNode document = PayloadJson.MAPPER.createObjectNode();
        document.put("thread", thread);
        document.put("agent", status.agent());
        document.set("workspace", JsonDocuments.tree(state.workspace()));
        return document;
    }

    static ObjectNode interrupt(PendingItem item) {
        ObjectNode document = PayloadJson.MAPPER.createObjectNode();
        document.put("id", PendingId.of(item).text());
        document.put("reason", item.kind().wireName());
        document.put("message", item.words());
        document.put("toolCallId", item.callId());
        document.set("responseSchema", responseSchema(item));
        ObjectNode metadata = document.putObject("metadata");
        metadata.put("tool", item.tool());
        item.args().ifPresent(args -> metadata.set("args", JsonDocuments.tree(args)));
        item.evidence().ifPresent(seen -> metadata.put("evidence", seen));
        item.whyNoRerun().ifPresent(why -> metadata.put("whyNoRerun", why));
        if (item.fromFile()) {
            metadata.put("fromFile", true).put("mayHaveRun", item.mayHaveRun());
        }
        return document;
    }

    private static ObjectNode responseSchema(PendingItem item) {
        String schema = switch (item.kind()) {
            case APPROVAL ->
                "{\"type\":\"object\",\"required\":[\"approved\"],\"properties\":{\"approved\":{\"type\":\"boolean\"},"
                        + "\"args\":{\"type\":\"object\"},\"reason\":{\"type\":\"string\"}},"
                        + "\"additionalProperties\":false}";
            case UNKNOWN ->
                "{\"type\":\"object\",\"required\":[\"outcome\"],\"properties\":{\"outcome\":"
                        + "{\"enum\":" + JsonDocuments.tree(item.outcomes())
                        + "},\"result\":{\"type\":\"string\"},\"note\":{\"type\":\"string\"}}}";
            case QUESTION ->
                "{\"type\":\"object\",\"required\":[\"answer\"],\"properties\":{\"answer\":{\"type\":\"string\"}}}";
        };
        try {
            return (ObjectNode) PayloadJson.MAPPER.readTree(schema);
        } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }
}
