package dev.waymark.contract.message;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.Optional;

/**
 * The payload of {@code say}: a message, a conversation that replaces the existing one, or a repetition of the last
 * turn.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record SayPayload(
        @JsonProperty("id") Optional<String> id,
        @JsonProperty("content") Optional<String> content,
        @JsonProperty("messages") Optional<JsonNode> messages,
        @JsonProperty("retry") Optional<Boolean> retry,
        @JsonProperty("schema") Optional<JsonNode> schema) {
    @JsonCreator
    public SayPayload {
        id = id == null ? Optional.empty() : id;
        content = content == null ? Optional.empty() : content;
        messages = messages == null ? Optional.empty() : messages;
        retry = retry == null ? Optional.empty() : retry;
        schema = schema == null ? Optional.empty() : schema;
    }

    public static SayPayload message(String id, String content) {
        return new SayPayload(
                Optional.of(id), Optional.of(content), Optional.empty(), Optional.empty(), Optional.empty());
    }

    public static SayPayload retry(String id) {
        return new SayPayload(Optional.of(id), Optional.empty(), Optional.empty(), Optional.of(true), Optional.empty());
    }

    public SayPayload withMessages(JsonNode list) {
        return new SayPayload(id, content, Optional.of(list), retry, schema);
    }

    /** A copy with a JSON Schema for the turn's final reply. */
    public SayPayload wanting(Optional<JsonNode> lastWord) {
        return new SayPayload(id, content, messages, retry, lastWord);
    }
}
