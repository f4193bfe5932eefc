package dev.waymark.worker.announce.delivery;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.Signature;
import java.security.spec.EdECPrivateKeySpec;
import java.security.spec.NamedParameterSpec;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The headers of Standard Webhooks: an id, a time, and a signature of both and the body for each secret, by HMAC-SHA256
 * ({@code whsec_}) or Ed25519 ({@code whsk_}, the 32 bytes of a private key, or these and the public key).
 */
final class StandardWebhook {
    private static final String SYMMETRIC = "whsec_";
    private static final String PRIVATE = "whsk_";
    private static final int ED25519_BYTES = 32;

    private StandardWebhook() {}

    /**
     * The headers; empty if a secret is not usable.
     *
     * @param attempt the time of this attempt: receivers refuse messages that were sent long ago
     */
    static Optional<Map<String, String>> headers(Notice notice, Instant attempt, List<String> secrets) {
        String time = Long.toString(attempt.getEpochSecond());
        byte[] content =
                (notice.id() + "." + time + "." + Notice.json(notice.document())).getBytes(StandardCharsets.UTF_8);
        List<String> signatures = new ArrayList<>();
        try {
            for (String secret : secrets) {
                signatures.add(signature(secret, content));
            }
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            return Optional.empty(); // The message of the exception might quote the secret.
        }
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("webhook-id", notice.id());
        headers.put("webhook-timestamp", time);
        headers.put("webhook-signature", String.join(" ", signatures));
        return Optional.of(headers);
    }

    static String signature(String secret, byte[] content) throws GeneralSecurityException {
        if (secret.startsWith(SYMMETRIC)) {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(bytes(secret, SYMMETRIC), "HmacSHA256"));
            return "v1," + Base64.getEncoder().encodeToString(mac.doFinal(content));
        }
        if (secret.startsWith(PRIVATE)) {
            byte[] key = bytes(secret, PRIVATE);
            if (key.length != ED25519_BYTES && key.length != 2 * ED25519_BYTES) {
                throw new IllegalArgumentException("not an Ed25519 key");
            }
            Signature signature = Signature.getInstance("Ed25519");
            signature.initSign(KeyFactory.getInstance("Ed25519")
                    .generatePrivate(
                            new EdECPrivateKeySpec(NamedParameterSpec.ED25519, Arrays.copyOf(key, ED25519_BYTES))));
            signature.update(content);
            return "v1a," + Base64.getEncoder().encodeToString(signature.sign());
        }
        throw new IllegalArgumentException("the secret begins with neither whsec_ nor whsk_");
    }

    private static byte[] bytes(String secret, String prefix) {
        byte[] key = Base64.getDecoder().decode(secret.substring(prefix.length()));
        if (key.length == 0) {
            throw new IllegalArgumentException("the secret is empty");
        }
        return key;
    }
}
