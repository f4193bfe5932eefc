package dev.waymark.server.agui;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.PendingItem;
import dev.waymark.contract.StatusReport;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.message.Transcript;
import java.util.List;
import java.util.Optional;

/** Converts messages, state and interrupts to AG-UI JSON. */
final class AgUiDocuments {
    /** Prefix of message ids assigned by this server. A message with such an id is not a new user message. */
    static final String OWN = "wm-";

    private static final String DIGEST_MARK = "~";

    private AgUiDocuments() {}

    /** The id of the next model reply in this state. */
    static String nextMessageId(Conversation state) {
        return OWN + "m" + (state.counters().messages() + 1);
    }

    static String resultId(String callId) {
        return OWN + "r-" + callId;
    }

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
        document.put("id", OWN + entry.id());
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
        document.put("id", resultId(result.toolUseId()));
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
        document.set("workspace", JsonDocuments.tree(state.desk()));
        return document;
    }

    /**
     * The interrupt for a pending item. The id of an approval contains the digest of the arguments, so that the
     * decision applies to the arguments that were shown.
     */
    static ObjectNode interrupt(PendingItem item) {
        ObjectNode document = PayloadJson.MAPPER.createObjectNode();
        document.put(
                "id",
                item.callId()
                        + item.argsDigest().map(digest -> DIGEST_MARK + digest).orElse(""));
        document.put("reason", item.kind());
        document.put("message", item.words());
        document.put("toolCallId", item.callId());
        document.set("responseSchema", responseSchema(item));
        ObjectNode metadata = document.putObject("metadata");
        metadata.put("tool", item.tool());
        item.args().ifPresent(args -> metadata.set("args", JsonDocuments.tree(args)));
        item.evidence().ifPresent(seen -> metadata.put("evidence", seen));
        return document;
    }

    /** The call id and the arguments' digest in an interrupt id. */
    record Interrupted(String callId, Optional<String> argsDigest) {
        static Interrupted parse(String id) {
            int mark = id.lastIndexOf(DIGEST_MARK);
            boolean hasDigest = mark > 0 && id.length() - mark - 1 == 64;
            return hasDigest
                    ? new Interrupted(id.substring(0, mark), Optional.of(id.substring(mark + 1)))
                    : new Interrupted(id, Optional.empty());
        }
    }

    private static ObjectNode responseSchema(PendingItem item) {
        String schema = switch (item.kind()) {
            case PendingItem.APPROVAL ->
                "{\"type\":\"object\",\"required\":[\"approved\"],\"properties\":{\"approved\":{\"type\":\"boolean\"},"
                        + "\"args\":{\"type\":\"object\"},\"reason\":{\"type\":\"string\"}}}";
            case PendingItem.UNKNOWN ->
                "{\"type\":\"object\",\"required\":[\"outcome\"],\"properties\":{\"outcome\":"
                        + "{\"enum\":[\"done\",\"rerun\",\"give-up\"]},\"result\":{\"type\":\"string\"}}}";
            default ->
                "{\"type\":\"object\",\"required\":[\"answer\"],\"properties\":{\"answer\":{\"type\":\"string\"}}}";
        };
        try {
            return (ObjectNode) PayloadJson.MAPPER.readTree(schema);
        } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }
}
