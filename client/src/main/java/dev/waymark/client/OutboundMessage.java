package dev.waymark.client;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.SayPayload;
import dev.waymark.contract.WireNames;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Something for a thread, to be sent with {@link AgentClient#post}. It has an id of its own, so that sending it twice is
 * harmless.
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

    /** Messages that replace the conversation, as runner checkpoints have them. An empty list clears it. */
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

    /** The last failed or stopped turn is to run once more. */
    public static OutboundMessage retry() {
        String id = newId();
        return new OutboundMessage(id, WireNames.SAY, SayPayload.retry(id));
    }

    /** The answer to the question of this call. */
    public static OutboundMessage answer(String callId, String text) {
        String id = newId();
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("id", id);
        payload.put("callId", callId);
        payload.put("answer", RequestLimits.answer(text));
        return new OutboundMessage(id, WireNames.ANSWER, payload);
    }

    /** What a person says to a call that waits for approval. */
    public static OutboundMessage decision(Approval approval) {
        String id = newId();
        return new OutboundMessage(id, approval.approved() ? WireNames.APPROVE : WireNames.DENY, approval.payload(id));
    }

    /** What a person makes of a call of which nobody knows whether it took effect. */
    public static OutboundMessage settlement(Settlement settlement) {
        return new OutboundMessage(newId(), WireNames.SETTLE, settlement.payload());
    }

    /** The turn is to end. */
    public static OutboundMessage stop() {
        return new OutboundMessage(newId(), WireNames.STOP, Map.of());
    }

    private static String newId() {
        return UUID.randomUUID().toString();
    }

    /** By which what comes of it is known in the thread's history. */
    public String id() {
        return id;
    }

    /** What it is, as the signal of the same kind is called. */
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
