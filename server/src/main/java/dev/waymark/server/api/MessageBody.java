package dev.waymark.server.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.check.RequestLimits;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.server.http.ApiRequest;

/**
 * The body of an operation that sends a message. It is the payload of the signal with the same name, except that
 * {@code message} stands for {@code content}, {@code signer} for {@code by}, and the caller is the sender.
 */
final class MessageBody {
    private MessageBody() {}

    static PersonFact read(String signal, ApiRequest request) {
        ObjectNode payload = PayloadJson.MAPPER.createObjectNode();
        request.json().properties().forEach(field -> payload.set(payloadName(field.getKey()), field.getValue()));
        return Attribution.of(request.caller(), RequestLimits.read(signal, payload));
    }

    private static String payloadName(String field) {
        return switch (field) {
            case "message" -> "content";
            case "signer" -> "by";
            default -> field;
        };
    }
}
