package dev.waymark.saver;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Optional;

/**
 * Encodes any text reversibly with the characters {@code a-z 0-9 - _ %}: all other characters become {@code %xx} for
 * each byte of their UTF-8. Different texts therefore stay different on systems that ignore case, normalize letters, or
 * treat NUL and slash specially.
 */
final class EscapedName {
    private static final HexFormat HEX = HexFormat.of();

    private EscapedName() {}

    static String of(String text) {
        byte[] bytes = CheckpointText.checked(text).getBytes(StandardCharsets.UTF_8);
        StringBuilder name = new StringBuilder(bytes.length);
        for (byte each : bytes) {
            if (isPlain(each)) {
                name.append((char) each);
            } else {
                name.append('%').append(HEX.toHexDigits(each));
            }
        }
        return name.toString();
    }

    /** Decodes a name; empty if it is not an encoded text. */
    static Optional<String> read(String name) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(name.length());
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c < 0x80 && isPlain((byte) c)) {
                bytes.write(c);
            } else if (c == '%' && i + 2 < name.length() && isHex(name.charAt(i + 1)) && isHex(name.charAt(i + 2))) {
                bytes.write(HexFormat.fromHexDigits(name, i + 1, i + 3));
                i += 2;
            } else {
                return Optional.empty();
            }
        }
        try {
            return Optional.of(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes.toByteArray()))
                    .toString());
        } catch (CharacterCodingException e) {
            return Optional.empty();
        }
    }

    private static boolean isPlain(byte c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    }

    private static boolean isHex(char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    }
}
