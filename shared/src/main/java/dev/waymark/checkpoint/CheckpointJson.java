package dev.waymark.checkpoint;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import dev.waymark.conversation.value.Json;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads the text of a checkpoint: one JSON document, or several in sequence.
 *
 * <p>Limits size, depth and the length of numbers, so that no document takes long to read. Rejects duplicate names and
 * lone surrogates, which are mistakes of the writer.
 */
final class CheckpointJson {
    static final int MAX_BYTES = 8 * 1024 * 1024;
    /** A checkpoint wraps arguments of the maximum depth in a few more levels. */
    private static final int MAX_DEPTH = Json.MAX_DEPTH + 20;

    private static final JsonFactory FACTORY = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(MAX_DEPTH)
                    .maxStringLength(MAX_BYTES)
                    .maxNameLength(MAX_BYTES)
                    .build())
            .build();

    /** A suffix of parser messages that shows internal settings. */
    private static final Pattern BEGINNING = Pattern.compile(" \\(start marker at \\[Source:[^]]*]\\)");

    private CheckpointJson() {}

    static List<Json> read(byte[] text) {
        if (text.length > MAX_BYTES) {
            throw CheckpointCorruption.tooLarge(MAX_BYTES);
        }
        List<Json> documents = new ArrayList<>();
        try (JsonParser parser = FACTORY.createParser(text)) {
            while (parser.nextToken() != null) {
                documents.add(value(parser));
            }
        } catch (IOException | IllegalArgumentException e) {
            String words = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
            throw CheckpointCorruption.at(
                    "", "not JSON: " + BEGINNING.matcher(words).replaceAll(""));
        }
        return documents;
    }

    /**
     * Converts the innermost values first, because {@link Json#of} limits the nesting of plain values, but not of
     * values that are already converted.
     */
    private static Json value(JsonParser parser) throws IOException {
        JsonToken token = parser.currentToken();
        return switch (token) {
            case START_OBJECT -> {
                Map<String, Object> fields = new LinkedHashMap<>();
                while (parser.nextToken() != JsonToken.END_OBJECT) {
                    String name = whole(parser.currentName());
                    parser.nextToken();
                    fields.put(name, value(parser));
                }
                yield Json.of(fields);
            }
            case START_ARRAY -> {
                List<Object> items = new ArrayList<>();
                while (parser.nextToken() != JsonToken.END_ARRAY) {
                    items.add(value(parser));
                }
                yield Json.of(items);
            }
            default -> Json.of(scalar(parser, token));
        };
    }

    private static @Nullable Object scalar(JsonParser parser, JsonToken token) throws IOException {
        return switch (token) {
            case VALUE_STRING -> whole(parser.getText());
            case VALUE_NUMBER_INT -> parser.getNumberValue();
            case VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_NULL -> null;
            default -> throw new IllegalArgumentException("unexpected JSON token: " + token);
        };
    }

    private static String whole(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isHighSurrogate(text.charAt(i))
                    && i + 1 < text.length()
                    && Character.isLowSurrogate(text.charAt(i + 1))) {
                i++;
            } else if (Character.isSurrogate(text.charAt(i))) {
                throw new IllegalArgumentException("a lone surrogate");
            }
        }
        return text;
    }
}
