package dev.waymark.client.request;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.client.AgentClient;
import dev.waymark.client.check.RequestLimits;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.value.FormAction;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * A message to a thread, sent with {@link AgentClient#send}. Each message has a unique id, so that sending it twice
 * is harmless.
 *
 * <pre>{@code
 * client.send("trip", OutboundMessage.message("And a window seat, please."));
 * client.send("trip", OutboundMessage.of(Approval.approve().withBy("ann")));
 * }</pre>
 *
 * @param fact what the thread records. It contains the id only if {@link #recordsId} is true; if not, only the server
 *     knows the id, until the run ends
 * @param id the id of the message
 * @param isNamed whether the sender has chosen the id, so that other messages may have the same one
 */
public record OutboundMessage(PersonFact fact, String id, boolean isNamed) {
    /**
     * Checks the message with the rules of the thread.
     *
     * @throws dev.waymark.client.failure.WaymarkException if the thread would ignore it
     */
    public OutboundMessage {
        RequestLimits.check(fact);
    }

    /** A message with the id of the fact or, if that has none, a new one. */
    public static OutboundMessage of(PersonFact fact) {
        String id = fact.messageId().orElseGet(() -> UUID.randomUUID().toString());
        return new OutboundMessage(fact.withId(id), id, false);
    }

    /** A message to the model. */
    public static OutboundMessage message(String text) {
        return of(PersonFact.UserSpoke.message(text));
    }

    /** Messages that replace the conversation, in the format of runner checkpoints. An empty list clears it. */
    public static OutboundMessage replacement(Json messages) {
        return of(PersonFact.UserSpoke.replacing(RequestLimits.messages(messages)));
    }

    /** Runs the last turn again, which must have failed or been stopped. */
    public static OutboundMessage retry() {
        return of(PersonFact.UserSpoke.retrying());
    }

    /** Answers the only open question. */
    public static OutboundMessage answer(String text) {
        return of(PersonFact.HumanAnswered.to(Optional.empty(), text));
    }

    /** Answers the question of this call. */
    public static OutboundMessage answer(String callId, String text) {
        return of(PersonFact.HumanAnswered.to(Optional.of(callId), text));
    }

    /** Refuses to fill in a form that the server of a tool shows: for this call, or the only open one. */
    public static OutboundMessage refusal(Optional<String> callId, FormAction how) {
        return of(PersonFact.HumanAnswered.refusing(callId, how));
    }

    /** Ends the running turn. */
    public static OutboundMessage stop() {
        return of(new PersonFact.Stopped(Optional.empty()));
    }

    /** Deletes the conversation. The record of side effects is kept. */
    public static OutboundMessage clear() {
        return of(new PersonFact.Cleared(false, Optional.empty()));
    }

    /** Deletes the conversation and the record of side effects, so that a repeated call takes effect again. */
    public static OutboundMessage clearAll() {
        return of(new PersonFact.Cleared(true, Optional.empty()));
    }

    /** Closes the thread as soon as it is idle. */
    public static OutboundMessage close() {
        return of(new PersonFact.CloseRequested(Optional.empty()));
    }

    /**
     * Sets the id. A message that is sent again with its id takes effect once; another message with the same id is
     * refused ({@code KeyReused}).
     */
    public OutboundMessage withId(String own) {
        return new OutboundMessage(fact.withId(own), own, true);
    }

    /** Whether the id is part of the recorded message. */
    public boolean recordsId() {
        return fact.messageId().isPresent();
    }

    /**
     * The id of the update. If the sender has chosen the id of the message and the thread records it, the update id
     * also contains a digest of the content: the server itself answers an update that it knows, so another message with
     * the same id would not reach the thread.
     */
    public String updateId() {
        if (!isNamed || !recordsId()) {
            return id;
        }
        try {
            return id + "-" + Sha256.hex(PayloadJson.MAPPER.writeValueAsString(payload()));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The name of the update, and of the signal with the same payload. */
    public String name() {
        return fact.signal();
    }

    /** The payload of the update, and of the signal with the same name. */
    public Map<String, Object> payload() {
        return fact.payload();
    }
}
