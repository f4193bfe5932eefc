package dev.waymark.worker.model;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectReader;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.ToolArguments;
import java.util.Optional;

/**
 * A last word that has to be JSON of a certain schema. Models are told so in words, which every provider takes, and
 * whatever they reply is held against the schema here.
 */
final class StructuredReply {
    private static final ObjectReader READER =
            PayloadJson.MAPPER.readerFor(Json.class).with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
    private static final String FENCE = "```";

    private StructuredReply() {}

    static String instructions(Json schema) {
        return "When you call no more tools, your reply must be one JSON value that fits the following JSON Schema, and"
                + " nothing else: no introduction, no explanation, no code fence.\n" + schema.canonical();
    }

    /** The reply, with what it says as JSON, or with what is wrong with it. One that calls tools is not the last word. */
    static Reply of(Reply reply, Optional<Json> schema) {
        Message message = new Message(Role.ASSISTANT, reply.content());
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

    /** Many models can't do without a fence. */
    private static String unfenced(String words) {
        int firstLine = words.indexOf('\n');
        boolean fenced = words.startsWith(FENCE) && words.endsWith(FENCE) && firstLine > 0;
        return fenced && words.length() - FENCE.length() > firstLine
                ? words.substring(firstLine, words.length() - FENCE.length())
                : words;
    }
}
