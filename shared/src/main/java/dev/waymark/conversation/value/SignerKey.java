package dev.waymark.conversation.value;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.Objects;

/**
 * The public key of a signer: {@code ed25519:} and 32 bytes in base64. Verification depends only on its input, so
 * replays agree.
 */
public record SignerKey(@JsonValue String text) {
    /** The beginning of every key in text form. */
    public static final String PREFIX = "ed25519:";

    private static final int KEY_BYTES = 32;
    private static final int SIGNATURE_BYTES = 64;

    /** The X.509 prefix of a 32-byte Ed25519 key (RFC 8410). */
    private static final byte[] X509_HEADER = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};

    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public SignerKey {
        Objects.requireNonNull(text, "text");
    }

    /** The text form of an Ed25519 public key. */
    public static SignerKey of(PublicKey key) {
        byte[] encoded = key.getEncoded();
        byte[] raw = Arrays.copyOfRange(encoded, encoded.length - KEY_BYTES, encoded.length);
        return new SignerKey(PREFIX + Base64.getEncoder().encodeToString(raw));
    }

    /** Whether the text is a valid Ed25519 key. */
    public boolean isUsable() {
        try {
            publicKey();
            return true;
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            return false;
        }
    }

    /**
     * Whether this key's owner signed these bytes. False if the key is invalid, or if the signature is not base64 or
     * has a wrong length.
     */
    public boolean verifies(byte[] signed, String signature) {
        try {
            byte[] bytes = Base64.getDecoder().decode(signature);
            if (bytes.length != SIGNATURE_BYTES) {
                return false;
            }
            Signature verifier = Signature.getInstance("Ed25519");
            verifier.initVerify(publicKey());
            verifier.update(signed);
            return verifier.verify(bytes);
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            return false;
        }
    }

    private PublicKey publicKey() throws GeneralSecurityException {
        if (!text.startsWith(PREFIX)) {
            throw new IllegalArgumentException("not an Ed25519 key");
        }
        byte[] raw = Base64.getDecoder().decode(text.substring(PREFIX.length()));
        if (raw.length != KEY_BYTES) {
            throw new IllegalArgumentException("an Ed25519 key has 32 bytes, found " + raw.length);
        }
        byte[] encoded = new byte[X509_HEADER.length + KEY_BYTES];
        System.arraycopy(X509_HEADER, 0, encoded, 0, X509_HEADER.length);
        System.arraycopy(raw, 0, encoded, X509_HEADER.length, KEY_BYTES);
        return KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(encoded));
    }
}
