package dev.waymark.conversation.message;

import dev.waymark.conversation.value.Json;

/** The request for a reply that matches a schema. Every prompt contains it after the message that asked for it. */
public final class ReplySchema {
    private static final String REQUEST =
            "When you call no more tools, your reply must be one JSON value that fits the following JSON Schema, and"
                    + " nothing else: no introduction, no explanation, no code fence.\n";

    private ReplySchema() {}

    /** The request as text for a model. */
    public static String request(Json schema) {
        return REQUEST + schema.canonical();
    }

    /** Whether the message is such a request, and not what a person wrote. */
    public static boolean isRequest(Message message) {
        return message.text().startsWith(REQUEST);
    }
}
