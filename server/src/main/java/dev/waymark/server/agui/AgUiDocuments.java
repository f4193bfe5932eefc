package dev.waymark.server.agui;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.agent.ToolSpec;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.thread.ThreadStatus;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.server.front.FrontEndThreads;
import dev.waymark.server.front.MessageIds;
import dev.waymark.server.front.PendingId;
import dev.waymark.thread.StatusReport;
import java.util.List;
import java.util.Optional;

/** Converts messages, state and interrupts to AG-UI JSON. */
final class AgUiDocuments {
    /** The reason of an interrupt that asks the front end to run a call. */
    private static final String FRONT_END_TOOL = "front-end-tool";

    private static final String OUTPUT = "{\"type\":\"object\",\"properties\":{\"output\":{},\"error\":"
            + "{\"type\":\"string\"}},\"minProperties\":1,\"maxProperties\":1,\"additionalProperties\":false}";

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
        if (!message.reasoning().isEmpty()) {
            list.addObject()
                    .put("id", MessageIds.ofReasoning(MessageIds.of(entry)))
                    .put("role", "reasoning")
                    .put("content", message.reasoning());
        }
        ObjectNode document = list.addObject();
        document.put("id", MessageIds.of(entry));
        document.put("role", message.role() == Role.ASSISTANT ? "assistant" : "user");
        document.set("content", AgUiContent.of(message));
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
        StatusReport status = ThreadStatus.of(state);
        ObjectNode document = PayloadJson.MAPPER.createObjectNode();
        document.put("thread", thread);
        document.put("agent", status.agent());
        document.set("workspace", JsonDocuments.tree(state.workspace()));
        return document;
    }

    /**
     * A request that waits for a person or for the front end.
     *
     * @param call the call in this thread; empty for a call of a subagent
     * @param tool the tool that was called, if this thread's agent has it
     */
    static ObjectNode interrupt(PendingItem item, Optional<Call> call, Optional<ToolSpec> tool) {
        boolean isOfFrontEnd =
                tool.filter(FrontEndThreads::isOfFrontEnd).isPresent() && item.kind() == PendingItem.Kind.QUESTION;
        ObjectNode document = PayloadJson.MAPPER.createObjectNode();
        document.put("id", PendingId.of(item).text());
        document.put("reason", isOfFrontEnd ? FRONT_END_TOOL : item.kind().wireName());
        document.put("message", item.words());
        document.put("toolCallId", item.callId());
        ObjectNode response = isOfFrontEnd ? tree(OUTPUT) : responseSchema(item);
        document.set("responseSchema", response);
        ObjectNode metadata = document.putObject("metadata");
        metadata.put("tool", item.tool());
        item.args()
                .or(() -> call.filter(asks -> isOfFrontEnd).map(Call::args))
                .ifPresent(args -> metadata.set("args", JsonDocuments.tree(args)));
        tool.ifPresent(known -> {
            ObjectNode schema = (ObjectNode) JsonDocuments.tree(known.input());
            metadata.put("description", known.description());
            metadata.set("schema", schema);
            if (item.kind() == PendingItem.Kind.APPROVAL) {
                ((ObjectNode) response.get("properties")).set("args", schema);
            }
        });
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
        return tree(schema);
    }

    private static ObjectNode tree(String schema) {
        try {
            return (ObjectNode) PayloadJson.MAPPER.readTree(schema);
        } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }
}
