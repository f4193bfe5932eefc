package dev.waymark.worker.model;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectReader;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.ToolArguments;
import java.util.Optional;

/**
 * Validates a final reply in JSON. The schema follows the message that requested the reply, which works with every
 * provider. This class checks the reply against the schema.
 */
final class StructuredReply {
    private static final ObjectReader READER =
            PayloadJson.MAPPER.readerFor(Json.class).with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
    private static final String FENCE = "```";

    private StructuredReply() {}

    /**
     * Adds the parsed JSON, or the validation error, to the reply. A reply that calls tools is not final and stays
     * unchanged.
     */
    static Reply of(Reply reply, Optional<Json> schema) {
        Message message = reply.message();
        return schema.isEmpty() || !message.toolUses().isEmpty() ? reply : judged(reply, message.text(), schema.get());
    }

    private static Reply judged(Reply reply, String words, Json schema) {
        Json value;
        try {
            value = READER.readValue(unfenced(words.strip()));
        } catch (JsonProcessingException | IllegalArgumentException e) {
            return reply.withMisfit("it is not one JSON value");
        }
        if (value == null) {
            return reply.withMisfit("it is empty");
        }
        return ToolArguments.problem(schema, value).map(reply::withMisfit).orElseGet(() -> reply.withStructured(value));
    }

    /** Removes a Markdown code fence, which many models add in spite of the instructions. */
    private static String unfenced(String words) {
        int firstLine = words.indexOf('\n');
        boolean fenced = words.startsWith(FENCE) && words.endsWith(FENCE) && firstLine > 0;
        return fenced && words.length() - FENCE.length() > firstLine
                ? words.substring(firstLine, words.length() - FENCE.length())
                : words;
    }
}
