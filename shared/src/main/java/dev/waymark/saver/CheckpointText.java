package dev.waymark.saver;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.StreamWriteConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.waymark.conversation.value.Json;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Converts documents to text and back, for savers. All text that is written can be read. Text that cannot be read is
 * corrupt.
 */
public final class CheckpointText {
    /** The maximum nesting depth. Deeper documents are not written, since they could overflow a reader's stack. */
    private static final int MAX_DEPTH = 1_000;

    /** Strings of any length are written, so they must be readable. */
    private static final JsonMapper MAPPER = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(MAX_DEPTH)
                            .maxStringLength(Integer.MAX_VALUE)
                            .maxNameLength(Integer.MAX_VALUE)
                            .build())
                    .streamWriteConstraints(StreamWriteConstraints.builder()
                            .maxNestingDepth(MAX_DEPTH)
                            .build())
                    .build())
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private CheckpointText() {}

    /** The thread id of this document. */
    public static String threadId(Json checkpoint) {
        if (checkpoint.field("threadId") instanceof String threadId) {
            return checked(threadId);
        }
        throw SaverException.refused("the checkpoint names no thread: threadId", "Save one that has a threadId");
    }

    /** Returns the id if it is Unicode text, and throws a {@link SaverException} if it contains a lone surrogate. */
    public static String checked(String threadId) {
        if (!isWellFormed(threadId)) {
            throw SaverException.refused(
                    "the thread id is not Unicode text: it contains a lone surrogate", "Choose another id");
        }
        return threadId;
    }

    /** The document as JSON on one line. */
    public static String write(Json checkpoint) {
        return write(checkpoint, MAPPER.writer());
    }

    /** The document as indented JSON, for people. */
    public static String writeIndented(Json checkpoint) {
        return write(checkpoint, MAPPER.writerWithDefaultPrettyPrinter());
    }

    private static String write(Json checkpoint, ObjectWriter writer) {
        String text;
        try {
            text = writer.writeValueAsString(checkpoint);
        } catch (JsonProcessingException e) {
            throw SaverException.refused(
                    "the checkpoint can't be written: " + e.getOriginalMessage(), "The saved checkpoint is unchanged");
        }
        if (!isWellFormed(text)) {
            throw SaverException.refused(
                    "the checkpoint is not Unicode text: it contains a lone surrogate",
                    "The saved checkpoint is unchanged");
        }
        return text;
    }

    /**
     * Reads the stored text of this thread.
     *
     * @param place where it is stored, for error messages
     * @throws SaverException with type {@code CheckpointCorruption} if it is not a document of this thread
     */
    public static Json read(String text, String threadId, String place) {
        Json checkpoint = read(text, place);
        if (!threadId.equals(checkpoint.field("threadId"))) {
            throw SaverException.corrupt(place, "its threadId belongs to another thread");
        }
        return checkpoint;
    }

    static Json read(String text, String place) {
        try {
            return json(MAPPER.readValue(text, Object.class));
        } catch (JsonProcessingException e) {
            throw SaverException.corrupt(place, "not JSON: " + e.getOriginalMessage());
        } catch (IllegalArgumentException e) {
            throw SaverException.corrupt(place, String.valueOf(e.getMessage()));
        }
    }

    /**
     * Converts the innermost values first, because {@link Json#of} limits the nesting of plain values, but not of
     * values that are already converted.
     */
    private static Json json(@Nullable Object tree) {
        if (tree instanceof Map<?, ?> map) {
            Map<String, Object> fields = new LinkedHashMap<>();
            map.forEach((name, value) -> fields.put(wellFormed((String) name), json(value)));
            return Json.of(fields);
        }
        if (tree instanceof List<?> list) {
            List<Object> items = new ArrayList<>(list.size());
            list.forEach(item -> items.add(json(item)));
            return Json.of(items);
        }
        return Json.of(tree instanceof String text ? wellFormed(text) : tree);
    }

    private static String wellFormed(String text) {
        if (!isWellFormed(text)) {
            throw new IllegalArgumentException("a text contains a lone surrogate");
        }
        return text;
    }

    /** Checks for surrogates first, since encoders take time and memory. */
    private static boolean isWellFormed(String text) {
        return text.chars().noneMatch(c -> Character.isSurrogate((char) c))
                || StandardCharsets.UTF_8.newEncoder().canEncode(text);
    }
}
