package dev.waymark.client.request;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.failure.RequestLimits;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.message.SayPayload;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.conversation.value.VerifiedSubject;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * A message to a thread, sent with {@link AgentClient#send}. Each message has a unique id, so that sending it twice
 * is harmless.
 *
 * <pre>{@code
 * client.send("trip", OutboundMessage.message("And a window seat, please."));
 * }</pre>
 */
public final class OutboundMessage {
    private final String id;
    private final String name;
    private final Object payload;
    private final Optional<Approval> approval;
    private final boolean named;

    private OutboundMessage(String id, String name, Object payload) {
        this(id, name, payload, Optional.empty(), false);
    }

    private OutboundMessage(String id, String name, Object payload, Optional<Approval> approval, boolean named) {
        this.id = id;
        this.name = name;
        this.payload = payload;
        this.approval = approval;
        this.named = named;
    }

    /** A message to the model, with a new id. */
    public static OutboundMessage message(String text) {
        String id = newId();
        return new OutboundMessage(id, SignalNames.SAY, SayPayload.message(id, RequestLimits.message(text)));
    }

    /** Messages that replace the conversation, in the format of runner checkpoints. An empty list clears it. */
    public static OutboundMessage replacement(JsonNode messages) {
        String id = newId();
        return new OutboundMessage(
                id,
                SignalNames.SAY,
                new SayPayload(
                        Optional.of(id),
                        Optional.empty(),
                        Optional.of(RequestLimits.messages(messages)),
                        Optional.empty(),
                        Optional.empty()));
    }

    /** Runs the last turn again, which must have failed or been stopped. */
    public static OutboundMessage retry() {
        String id = newId();
        return new OutboundMessage(id, SignalNames.SAY, SayPayload.retry(id));
    }

    /** Answers the only open question. */
    public static OutboundMessage answer(String text) {
        return answer(Optional.empty(), text);
    }

    /** Answers the question of this call. */
    public static OutboundMessage answer(String callId, String text) {
        return answer(Optional.of(callId), text);
    }

    private static OutboundMessage answer(Optional<String> callId, String text) {
        String id = newId();
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("id", id);
        callId.ifPresent(named -> payload.put("callId", named));
        payload.put("answer", RequestLimits.answer(text));
        return new OutboundMessage(id, SignalNames.ANSWER, payload);
    }

    /** Decides about a call that needs approval. */
    public static OutboundMessage decision(Approval approval) {
        String id = newId();
        return new OutboundMessage(
                id,
                approval.approved() ? SignalNames.APPROVE : SignalNames.DENY,
                approval.payload(id),
                Optional.of(approval),
                false);
    }

    /** Settles a call with an unknown outcome. */
    public static OutboundMessage settlement(Settlement settlement) {
        return new OutboundMessage(newId(), SignalNames.SETTLE, settlement.payload());
    }

    /** Raises limits of the thread. */
    public static OutboundMessage raise(LimitRaise raise) {
        return new OutboundMessage(newId(), SignalNames.BUDGET, raise.payload());
    }

    /** Ends the running turn. */
    public static OutboundMessage stop() {
        return new OutboundMessage(newId(), SignalNames.STOP, Map.of());
    }

    /** Deletes the conversation. The record of side effects is kept. */
    public static OutboundMessage clear() {
        return new OutboundMessage(newId(), SignalNames.CLEAR, Map.of());
    }

    /** Deletes the conversation and the record of side effects, so that a repeated call takes effect again. */
    public static OutboundMessage clearAll() {
        return new OutboundMessage(newId(), SignalNames.CLEAR, Map.of("all", true));
    }

    /** Closes the thread as soon as it is idle. */
    public static OutboundMessage close() {
        return new OutboundMessage(newId(), SignalNames.CLOSE, Map.of());
    }

    /**
     * Sets the id. A message that is sent again with its id takes effect once; another message with the same id is
     * refused ({@code KeyReused}).
     */
    public OutboundMessage withId(String own) {
        if (payload instanceof SayPayload say) {
            return new OutboundMessage(
                    own,
                    name,
                    new SayPayload(Optional.of(own), say.content(), say.messages(), say.retry(), say.schema()),
                    approval,
                    true);
        }
        Map<String, Object> fields = fields();
        fields.computeIfPresent("id", (field, earlier) -> own);
        return new OutboundMessage(own, name, fields, approval, true);
    }

    /** Adds the name of the sender. Messages to the model have no sender. */
    public OutboundMessage by(String who) {
        return with("by", who);
    }

    /**
     * Adds the identity of the person, which the sender has verified. The identity is recorded separately from the name
     * in {@link #by}.
     */
    public OutboundMessage verifiedAs(VerifiedSubject subject) {
        return with("verified", subject);
    }

    /** Adds the approver's signature. */
    public OutboundMessage signed(String signature) {
        return with("signature", signature);
    }

    private OutboundMessage with(String field, Object value) {
        if (payload instanceof SayPayload) {
            return this;
        }
        Map<String, Object> fields = fields();
        fields.put(field, value);
        return new OutboundMessage(id, name, fields, approval, named);
    }

    private Map<String, Object> fields() {
        Map<String, Object> fields = new LinkedHashMap<>();
        if (payload instanceof Map<?, ?> known) {
            known.forEach((field, value) -> fields.put(String.valueOf(field), value));
        }
        return fields;
    }

    private static String newId() {
        return UUID.randomUUID().toString();
    }

    /** The id of the message. The thread records it only if {@link #recordsId} is true. */
    public String id() {
        return id;
    }

    /** Whether the sender has chosen the id, so that other messages may have the same one. */
    public boolean isNamed() {
        return named;
    }

    /** Whether the id is part of the recorded message. If not, only the server knows the id, until the run ends. */
    public boolean recordsId() {
        return payload instanceof SayPayload || fields().containsKey("id");
    }

    /**
     * The id of the update. If the sender has chosen the id of the message and the thread records it, the update id
     * also contains a digest of the content: the server itself answers an update that it knows, so another message with
     * the same id would not reach the thread.
     */
    public String updateId() {
        if (!named || !recordsId()) {
            return id;
        }
        try {
            return id + "-" + Sha256.hex(PayloadJson.MAPPER.writeValueAsString(payload));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The name of the update, and of the signal with the same payload. */
    public String name() {
        return name;
    }

    /** The decision in this message, if there is one. */
    public Optional<Approval> approval() {
        return approval;
    }

    /** The payload of the update, and of the signal with the same name. */
    public Object payload() {
        return payload;
    }

    @Override
    public String toString() {
        return name + " " + payload;
    }
}
