package dev.waymark.worker.inbound;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Limits text that goes into history to {@link #LIMIT_BYTES} of UTF-8: a payload above the server's limit would fail an
 * activity that has already run. The middle of a longer text is replaced with a line that contains a JSON object with
 * the size and the digest of the whole text:
 *
 * <pre>{@code
 * … the beginning
 * [cut: {"truncated":true,"bytes":5000000,"sha256":"9f86d081884c7d65…"}]
 * the end …
 * }</pre>
 *
 * The result, including that line, never exceeds the limit, and no character is split. Lone surrogates, which UTF-8
 * cannot encode, become {@code ?}. Keeps at most one and a half times the limit in memory. Thread-safe.
 */
public final class InlineText {

    public static final int LIMIT_BYTES = 256 * 1024;

    private static final int HALF = LIMIT_BYTES / 2;

    private static final int FIRST = 1024;

    /** Grows up to the limit. */
    private byte[] head = new byte[FIRST];

    private @Nullable StreamTail tail;
    private final MessageDigest digest = sha256();
    private long bytes;

    /** The text, cut if necessary. */
    public static String of(String text) {
        // A UTF-16 unit takes at most three bytes.
        if (text.length() > LIMIT_BYTES / 3) {
            InlineText inline = new InlineText();
            inline.append(text);
            return inline.text();
        }
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    }

    /** Appends to the end. A surrogate pair must not be split between two calls. */
    public synchronized void append(String text) {
        byte[] more = text.getBytes(StandardCharsets.UTF_8);
        digest.update(more);
        int fitting = (int) Math.min(more.length, Math.max(0, LIMIT_BYTES - bytes));
        if (fitting > 0) {
            int length = (int) bytes + fitting;
            if (length > head.length) {
                head = Arrays.copyOf(head, Math.min(LIMIT_BYTES, Math.max(length, 2 * head.length)));
            }
            System.arraycopy(more, 0, head, (int) bytes, fitting);
        }
        bytes += more.length;
        if (isCut()) {
            if (tail == null) {
                tail = new StreamTail(HALF);
                tail.append(head, 0, LIMIT_BYTES);
            }
            tail.append(more, fitting, more.length - fitting);
        }
    }

    public synchronized boolean isCut() {
        return bytes > LIMIT_BYTES;
    }

    public synchronized String text() {
        if (tail == null) {
            return new String(head, 0, (int) bytes, StandardCharsets.UTF_8);
        }
        String note = "\n[cut: {\"truncated\":true,\"bytes\":" + bytes + ",\"sha256\":\"" + digestSoFar() + "\"}]\n";
        int room = LIMIT_BYTES - note.length();
        int headEnd = room / 2;
        while (isInsideCharacter(head[headEnd])) {
            headEnd--;
        }
        byte[] end = tail.bytes();
        int tailStart = end.length - (room - room / 2);
        while (tailStart < end.length && isInsideCharacter(end[tailStart])) {
            tailStart++;
        }
        return new String(head, 0, headEnd, StandardCharsets.UTF_8)
                + note
                + new String(end, tailStart, end.length - tailStart, StandardCharsets.UTF_8);
    }

    private String digestSoFar() {
        try {
            return HexFormat.of().formatHex(((MessageDigest) digest.clone()).digest());
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException("cannot copy the state of SHA-256", e);
        }
    }

    private static boolean isInsideCharacter(byte b) {
        return (b & 0xc0) == 0x80;
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this JDK has no SHA-256", e);
        }
    }
}
