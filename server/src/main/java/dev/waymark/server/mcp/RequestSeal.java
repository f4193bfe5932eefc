package dev.waymark.server.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.conversation.value.VerifiedSubject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Seals the thread of a call into the {@code requestState} that a client sends back. A state is valid for the caller
 * and the call that it was issued for, for a limited time. Sending it again is harmless, because answers have ids.
 */
final class RequestSeal {
    /** Long enough for a person to fill in a form the next day. */
    private static final Duration VALID = Duration.ofHours(24);

    private static final String ALGORITHM = "HmacSHA256";
    private static final int LONGEST = 4_096;

    private final McpSettings settings;

    RequestSeal(McpSettings settings) {
        this.settings = settings;
    }

    String seal(McpRequest call, String thread) {
        ObjectNode content = PayloadJson.MAPPER
                .createObjectNode()
                .put("thread", thread)
                .put("at", settings.clock().instant().toString());
        byte[] bytes = content.toString().getBytes(StandardCharsets.UTF_8);
        Base64.Encoder encoder = Base64.getUrlEncoder().withoutPadding();
        return encoder.encodeToString(bytes) + "." + encoder.encodeToString(mac(call, bytes));
    }

    /**
     * Returns the thread.
     *
     * @throws RpcProblem if the state was not issued to this caller for this call, or is too old
     */
    String open(McpRequest call, String state) {
        try {
            String[] parts = state.length() > LONGEST ? new String[0] : state.split("\\.", -1);
            if (parts.length != 2) {
                throw foreign();
            }
            byte[] content = Base64.getUrlDecoder().decode(parts[0]);
            if (!MessageDigest.isEqual(
                    mac(call, content), Base64.getUrlDecoder().decode(parts[1]))) {
                throw foreign();
            }
            JsonNode sealed = PayloadJson.MAPPER.readTree(content);
            Instant until = Instant.parse(sealed.path("at").asText()).plus(VALID);
            if (settings.clock().instant().isAfter(until)) {
                throw RpcProblem.invalidParams(
                        ProblemType.REQUEST_STATE_EXPIRED,
                        "requestState is older than " + VALID.toHours() + " hours. The thread "
                                + sealed.path("thread").asText() + " goes on: call the tool result");
            }
            return sealed.path("thread").asText();
        } catch (IllegalArgumentException | IOException e) {
            throw foreign();
        }
    }

    private static RpcProblem foreign() {
        return RpcProblem.invalidParams(
                ProblemType.REQUEST_STATE_FOREIGN,
                "requestState was not issued to this caller for this call, by a server with this key");
    }

    private byte[] mac(McpRequest call, byte[] content) {
        Map<String, Object> bound = new LinkedHashMap<>();
        bound.put("content", Sha256.hex(content));
        bound.put("caller", call.caller().name());
        bound.put(
                "issuer",
                call.caller().subject().flatMap(VerifiedSubject::issuer).orElse(""));
        bound.put("tool", call.params().path("name").asText());
        bound.put("arguments", McpRequest.json(call.params().path("arguments")));
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(settings.key(), ALGORITHM));
            return mac.doFinal(Json.canonical(bound).getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java runtime has no " + ALGORITHM, e);
        }
    }
}
