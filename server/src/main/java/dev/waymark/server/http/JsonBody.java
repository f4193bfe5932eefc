package dev.waymark.server.http;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.PayloadJson;
import java.io.IOException;
import java.util.Arrays;

/**
 * The JSON body of a request, parsed and as it was received.
 *
 * <p>A document inside a body may come from a file that begins with a byte order mark, so marks between values are
 * ignored.
 */
public final class JsonBody {
    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

    private final byte[] text;
    private final JsonNode json;

    private JsonBody(byte[] text, JsonNode json) {
        this.text = text;
        this.json = json;
    }

    /** @throws IOException if the text is not JSON */
    static JsonBody of(byte[] text) throws IOException {
        byte[] unmarked = withoutMarks(text);
        return new JsonBody(unmarked, PayloadJson.MAPPER.readTree(unmarked));
    }

    JsonNode json() {
        return json;
    }

    /**
     * The value of a field exactly as it was received, for readers that are stricter than this parser, for example
     * about lone surrogates. Empty if the body does not have the field.
     */
    byte[] source(String field) {
        try (JsonParser parser = PayloadJson.MAPPER.createParser(text)) {
            if (parser.nextToken() == JsonToken.START_OBJECT) {
                while (parser.nextToken() == JsonToken.FIELD_NAME) {
                    boolean isWanted = parser.currentName().equals(field);
                    parser.nextToken();
                    long start = parser.currentTokenLocation().getByteOffset();
                    parser.skipChildren();
                    if (isWanted) {
                        parser.finishToken();
                        return slice(start, parser.currentLocation().getByteOffset());
                    }
                }
            }
            return new byte[0];
        } catch (IOException e) {
            throw new IllegalStateException("cannot read a body again that was parsed before", e);
        }
    }

    private byte[] slice(long start, long end) {
        if (start < 0 || end < start) {
            // The parser knows byte positions only in UTF-8, which RFC 8259 requires.
            throw HttpProblem.badInput("the body must be UTF-8");
        }
        return Arrays.copyOfRange(text, Math.toIntExact(start), Math.toIntExact(end));
    }

    /** Replaces byte order marks outside strings with spaces. */
    private static byte[] withoutMarks(byte[] text) {
        byte[] unmarked = text;
        boolean inString = false;
        for (int i = 0; i < text.length; i++) {
            if (text[i] == '"') {
                inString = !inString;
            } else if (inString && text[i] == '\\') {
                i++;
            } else if (!inString && isMark(text, i)) {
                unmarked = unmarked == text ? text.clone() : unmarked;
                Arrays.fill(unmarked, i, i + BYTE_ORDER_MARK.length, (byte) ' ');
            }
        }
        return unmarked;
    }

    private static boolean isMark(byte[] text, int at) {
        int end = at + BYTE_ORDER_MARK.length;
        return text[at] == BYTE_ORDER_MARK[0]
                && end <= text.length
                && Arrays.equals(text, at, end, BYTE_ORDER_MARK, 0, BYTE_ORDER_MARK.length);
    }
}
