package dev.waymark.server.aisdk;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.server.front.FrontEndContent;
import dev.waymark.server.front.MessageIds;
import dev.waymark.server.front.PendingId;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Converts a conversation to the UI messages with which {@code useChat} starts after a reload. */
final class UiMessages {
    /** The id of the part with the workspace, so that a later one replaces it. */
    static final String WORKSPACE = "workspace";

    private final String thread;
    private final Conversation state;
    private final ArrayNode list = PayloadJson.MAPPER.createArrayNode();
    private final Map<String, ObjectNode> callParts = new LinkedHashMap<>();
    private Optional<ObjectNode> reply = Optional.empty();

    private UiMessages(String thread, Conversation state) {
        this.thread = thread;
        this.state = state;
    }

    /**
     * The messages, without the replies of a running turn: a client receives those when it reconnects to the turn's
     * stream.
     */
    static ArrayNode of(String thread, Conversation state) {
        UiMessages messages = new UiMessages(thread, state);
        messages.state.transcript().entries().toList().forEach(messages::add);
        messages.state.uncommittedResults().forEach(messages::result);
        state.pending(thread).forEach(messages::waits);
        messages.workspace();
        return messages.list;
    }

    static ObjectNode metadata(String thread) {
        ObjectNode metadata = PayloadJson.MAPPER.createObjectNode();
        metadata.putObject("waymark").put("thread", thread);
        return metadata;
    }

    /** The data that a person needs to settle a call with an unknown outcome. */
    static ObjectNode unknown(PendingItem item) {
        ObjectNode data = PayloadJson.MAPPER.createObjectNode();
        data.put("callId", item.callId());
        data.put("tool", item.tool());
        item.args().ifPresent(args -> data.set("args", JsonDocuments.tree(args)));
        item.evidence().ifPresent(seen -> data.put("evidence", seen));
        data.set("outcomes", JsonDocuments.tree(item.outcomes()));
        item.whyNoRerun().ifPresent(why -> data.put("whyNoRerun", why));
        return data;
    }

    /** The data that marks a call as imported: its tool part looks like a call of this thread's model. */
    static ObjectNode fromFile(PendingItem item) {
        ObjectNode data = unknown(item);
        data.put("mayHaveRun", item.mayHaveRun());
        item.origin().ifPresent(words -> data.put("message", words));
        return data;
    }

    private void add(Transcript.Entry entry) {
        Message message = entry.message();
        if (!message.toolResults().isEmpty()) {
            message.toolResults().forEach(this::result);
        } else if (message.role() == Role.ASSISTANT) {
            if (!isOfRunningTurn(entry)) {
                reply(entry);
            }
        } else {
            reply = Optional.empty();
            ArrayNode parts = parts(MessageIds.of(entry), "user");
            if (!message.text().isEmpty()) {
                parts.addObject().put("type", "text").put("text", FrontEndContent.withoutContext(message.text()));
            }
            message.content().forEach(part -> image(parts, part));
        }
    }

    private static void image(ArrayNode parts, Part part) {
        if (part instanceof Part.Image image) {
            file(parts, image.mimeType().orElse("image/*"), image.url());
        } else if (part instanceof Part.ImageData image) {
            file(parts, image.mimeType(), "data:" + image.mimeType() + ";base64," + image.data());
        }
    }

    private static void file(ArrayNode parts, String mediaType, String url) {
        parts.addObject().put("type", "file").put("mediaType", mediaType).put("url", url);
    }

    private boolean isOfRunningTurn(Transcript.Entry entry) {
        return !state.isSettled() && !entry.at().isBefore(state.turn().startedAt());
    }

    private ArrayNode parts(String id, String role) {
        ObjectNode document = list.addObject();
        document.put("id", id);
        document.put("role", role);
        document.set("metadata", metadata(thread));
        return document.putArray("parts");
    }

    /** Adds a step to the current message: all replies of a turn form one message. */
    private void reply(Transcript.Entry entry) {
        if (reply.isEmpty()) {
            parts(MessageIds.of(entry), "assistant");
            reply = Optional.of((ObjectNode) list.get(list.size() - 1));
        }
        ArrayNode parts = (ArrayNode) reply.orElseThrow().get("parts");
        parts.addObject().put("type", "step-start");
        Message message = entry.message();
        if (!message.reasoning().isEmpty()) {
            parts.addObject()
                    .put("type", "reasoning")
                    .put("text", message.reasoning())
                    .put("state", "done");
        }
        if (!message.text().isEmpty()) {
            parts.addObject().put("type", "text").put("text", message.text()).put("state", "done");
        }
        message.toolUses().forEach(use -> call(parts, use));
    }

    private void call(ArrayNode parts, Part.ToolUse use) {
        ObjectNode part = parts.addObject();
        part.put("type", "dynamic-tool");
        part.put("toolName", use.name());
        part.put("toolCallId", use.id());
        part.put("state", "input-available");
        Optional<Call> call = state.calls().get(use.id());
        if (call.flatMap(Call::question).isEmpty()) {
            part.put("providerExecuted", true);
        }
        part.set("input", JsonDocuments.tree(call.map(Call::args).orElse(use.input())));
        callParts.put(use.id(), part);
    }

    private void result(Part.ToolResult result) {
        Optional.ofNullable(callParts.get(result.toolUseId())).ifPresent(part -> {
            part.put("state", result.isError() ? "output-error" : "output-available");
            part.put(result.isError() ? "errorText" : "output", result.content());
            part.put("providerExecuted", true);
        });
    }

    /** Whether the item is a call of a subagent, which the messages of this thread do not contain. */
    static boolean isOfSubagent(PendingItem item) {
        return item.callId().contains("/");
    }

    /** The data with which a front end decides a subagent's request through the HTTP API. */
    static ObjectNode waiting(PendingItem item) {
        ObjectNode data = unknown(item);
        data.put("kind", item.kind().wireName());
        data.put("message", item.words());
        PendingId.of(item).argsDigest().ifPresent(digest -> data.put("argsDigest", digest));
        return data;
    }

    private void waits(PendingItem item) {
        if (isOfSubagent(item)) {
            data("data-waiting", PendingId.of(item).text(), waiting(item));
            return;
        }
        if (item.fromFile()) {
            data("data-from-file", item.callId(), fromFile(item));
        }
        Optional<ObjectNode> part = Optional.ofNullable(callParts.get(item.callId()));
        if (item.kind() == PendingItem.Kind.APPROVAL) {
            part.ifPresent(call -> call.put("state", "approval-requested")
                    .putObject("approval")
                    .put("id", PendingId.of(item).text()));
        } else if (item.kind() == PendingItem.Kind.UNKNOWN) {
            data("data-unknown", item.callId(), unknown(item));
        }
    }

    /** Adds the workspace to the newest reply, which is also where the stream adds it. */
    private void workspace() {
        for (int i = list.size() - 1; i >= 0 && !state.workspace().isEmpty(); i--) {
            if (list.get(i).path("role").asText().equals("assistant")) {
                data((ObjectNode) list.get(i), "data-workspace", WORKSPACE, JsonDocuments.tree(state.workspace()));
                return;
            }
        }
    }

    private void data(String type, String id, ObjectNode data) {
        reply.ifPresent(message -> data(message, type, id, data));
    }

    private static void data(ObjectNode message, String type, String id, JsonNode data) {
        ((ArrayNode) message.get("parts"))
                .addObject()
                .put("type", type)
                .put("id", id)
                .set("data", data);
    }
}
