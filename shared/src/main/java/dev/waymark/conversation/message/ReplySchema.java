package dev.waymark.conversation.message;

import dev.waymark.conversation.value.Json;

/** The request for a reply that matches a schema. It stands behind the message that asked for it, in every prompt. */
public final class ReplySchema {
    private ReplySchema() {}

    /** The words for a model. */
    public static String request(Json schema) {
        return "When you call no more tools, your reply must be one JSON value that fits the following JSON Schema, and"
                + " nothing else: no introduction, no explanation, no code fence.\n" + schema.canonical();
    }
}
