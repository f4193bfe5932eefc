package dev.waymark.client;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.SayPayload;
import dev.waymark.contract.WireNames;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * A message to a thread, sent with {@link AgentClient#post}. It has a unique id, so that sending it twice is harmless.
 *
 * <pre>{@code
 * client.post("trip", OutboundMessage.message("And a window seat, please."));
 * }</pre>
 */
public final class OutboundMessage {
    private final String id;
    private final String name;
    private final Object payload;

    private OutboundMessage(String id, String name, Object payload) {
        this.id = id;
        this.name = name;
        this.payload = payload;
    }

    public static OutboundMessage message(String text) {
        String id = newId();
        return new OutboundMessage(id, WireNames.SAY, SayPayload.message(id, RequestLimits.message(text)));
    }

    /** Messages that replace the conversation, in the format of runner checkpoints. An empty list clears it. */
    public static OutboundMessage replacement(JsonNode messages) {
        String id = newId();
        return new OutboundMessage(
                id,
                WireNames.SAY,
                new SayPayload(
                        Optional.of(id),
                        Optional.empty(),
                        Optional.of(RequestLimits.messages(messages)),
                        Optional.empty(),
                        Optional.empty()));
    }

    /** Repeats the last turn, which failed or was stopped. */
    public static OutboundMessage retry() {
        String id = newId();
        return new OutboundMessage(id, WireNames.SAY, SayPayload.retry(id));
    }

    /** Answers the question of this call. */
    public static OutboundMessage answer(String callId, String text) {
        String id = newId();
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("id", id);
        payload.put("callId", callId);
        payload.put("answer", RequestLimits.answer(text));
        return new OutboundMessage(id, WireNames.ANSWER, payload);
    }

    /** Decides about a call that needs approval. */
    public static OutboundMessage decision(Approval approval) {
        String id = newId();
        return new OutboundMessage(id, approval.approved() ? WireNames.APPROVE : WireNames.DENY, approval.payload(id));
    }

    /** Settles a call with an unknown outcome. */
    public static OutboundMessage settlement(Settlement settlement) {
        return new OutboundMessage(newId(), WireNames.SETTLE, settlement.payload());
    }

    /** Ends the turn. */
    public static OutboundMessage stop() {
        return new OutboundMessage(newId(), WireNames.STOP, Map.of());
    }

    private static String newId() {
        return UUID.randomUUID().toString();
    }

    /** The id of the message in the thread's history. */
    public String id() {
        return id;
    }

    /** The name of the signal with the same payload. */
    public String name() {
        return name;
    }

    Object payload() {
        return payload;
    }

    @Override
    public String toString() {
        return name + " " + payload;
    }
}
