package dev.waymark.conversation.value;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 of text or bytes, as lower-case hexadecimal. */
public final class Sha256 {
    private final MessageDigest begun;

    private Sha256(MessageDigest begun) {
        this.begun = begun;
    }

    /** The digest of the text in UTF-8, in hexadecimal. */
    public static String hex(String text) {
        return over(text).hexWith("");
    }

    /** The digest of these bytes, in hexadecimal. */
    public static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(over("").begun.digest(bytes));
    }

    /** The digest state for texts that start with this prefix. */
    static Sha256 over(String beginning) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(beginning.getBytes(StandardCharsets.UTF_8));
            return new Sha256(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java runtime has no SHA-256", e);
        }
    }

    String hexWith(String ending) {
        try {
            MessageDigest whole = (MessageDigest) begun.clone();
            return HexFormat.of().formatHex(whole.digest(ending.getBytes(StandardCharsets.UTF_8)));
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException("cannot copy the state of SHA-256", e);
        }
    }
}
