package dev.waymark.conversation.message;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import dev.waymark.conversation.value.Json;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * A piece of a message. The type names are stored in histories and never change. Null instead of a JSON object is read
 * as an empty object.
 */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonSubTypes({
    @JsonSubTypes.Type(value = Part.Text.class, name = "text"),
    @JsonSubTypes.Type(value = Part.Image.class, name = "image"),
    @JsonSubTypes.Type(value = Part.ImageData.class, name = "image_base64"),
    @JsonSubTypes.Type(value = Part.Reasoning.class, name = "reasoning"),
    @JsonSubTypes.Type(value = Part.ToolUse.class, name = "tool_use"),
    @JsonSubTypes.Type(value = Part.ToolResult.class, name = "tool_result")
})
public sealed interface Part {
    /** The part as plain JSON, for digests. It equals the part's JSON from Jackson. */
    Map<String, Object> tree();

    /** Plain text, of the user or the model. */
    record Text(String text) implements Part {
        public Text {
            Objects.requireNonNull(text, "text");
        }

        @Override
        public Map<String, Object> tree() {
            return fields("type", "text", "text", text);
        }
    }

    /** An image that the model's provider fetches from this address. */
    record Image(String url, Optional<String> mimeType) implements Part {
        public Image {
            Objects.requireNonNull(url, "url");
            mimeType = orEmpty(mimeType);
        }

        @Override
        public Map<String, Object> tree() {
            Map<String, Object> tree = fields("type", "image", "url", url);
            mimeType.ifPresent(present -> tree.put("mimeType", present));
            return tree;
        }
    }

    /** An image whose bytes are part of the message, as Base64. */
    record ImageData(String data, String mimeType) implements Part {
        public ImageData {
            Objects.requireNonNull(data, "data");
            Objects.requireNonNull(mimeType, "mimeType");
        }

        @Override
        public Map<String, Object> tree() {
            return fields("type", "image_base64", "data", data, "mimeType", mimeType);
        }
    }

    /** A model's reasoning. {@code metadata} comes from the provider and is kept unchanged. */
    record Reasoning(String text, Json metadata) implements Part {
        public Reasoning {
            Objects.requireNonNull(text, "text");
            metadata = metadata == null || metadata.isNull() ? Json.EMPTY_OBJECT : metadata;
        }

        @Override
        public Map<String, Object> tree() {
            return fields("type", "reasoning", "text", text, "metadata", metadata);
        }
    }

    /**
     * A model's request to call a tool.
     *
     * @param sent data of the provider that the other fields lack or spell differently, and that the provider expects
     *     back
     */
    record ToolUse(String id, String name, Json input, Optional<Json> sent) implements Part {
        public ToolUse {
            Objects.requireNonNull(id, "id");
            Objects.requireNonNull(name, "name");
            input = input == null || input.isNull() ? Json.EMPTY_OBJECT : input;
            sent = orEmpty(sent);
        }

        public ToolUse(String id, String name, Json input) {
            this(id, name, input, Optional.empty());
        }

        /** A copy of this call with another id. */
        public ToolUse withId(String other) {
            return new ToolUse(other, name, input, sent);
        }

        @Override
        public Map<String, Object> tree() {
            Map<String, Object> tree = fields("type", "tool_use", "id", id, "name", name, "input", input);
            sent.ifPresent(kept -> tree.put("sent", kept));
            return tree;
        }
    }

    /**
     * The result of a call. {@code isError} is written only if it is true.
     *
     * @param content the tool's own text
     * @param note a sentence for the model, in front of the content
     */
    record ToolResult(
            String toolUseId,
            String content,

            @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean isError,

            Optional<String> note)
            implements Part {
        public ToolResult {
            Objects.requireNonNull(toolUseId, "toolUseId");
            Objects.requireNonNull(content, "content");
            note = orEmpty(note);
        }

        /** A result without a note. */
        public ToolResult(String toolUseId, String content, boolean isError) {
            this(toolUseId, content, isError, Optional.empty());
        }

        /** The text for the model: the note, if there is one, and the tool's own text. */
        public String told() {
            return note.map(words -> words + "\n" + content).orElse(content);
        }

        @Override
        public Map<String, Object> tree() {
            Map<String, Object> tree = fields("type", "tool_result", "toolUseId", toolUseId, "content", content);
            if (isError) {
                tree.put("isError", true);
            }
            note.ifPresent(words -> tree.put("note", words));
            return tree;
        }
    }

    private static Map<String, Object> fields(Object... keysAndValues) {
        Map<String, Object> fields = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            fields.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        return fields;
    }

    private static <T> Optional<T> orEmpty(Optional<T> value) {
        return value == null ? Optional.empty() : value;
    }
}
