package dev.waymark.model.adapter;

import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Converts transcripts to a form that every service behind a library accepts. */
public final class PlainTranscript {
    /** Replaces missing text: services refuse messages that are empty or blank. */
    public static final String NOTHING = "(nothing)";

    /** The form of call ids and tool names that all services accept. */
    private static final Pattern ACCEPTED = Pattern.compile("[A-Za-z0-9_-]{1,40}");

    private static final int LONGEST_NAME = 40;

    private PlainTranscript() {}

    /**
     * Puts a message of the user before a leading assistant message, and merges neighboring messages of the same role,
     * as some services require.
     */
    public static List<Message> alternating(List<Message> messages) {
        List<Message> begun = new ArrayList<>(messages);
        if (!messages.isEmpty() && messages.get(0).role() == Role.ASSISTANT) {
            begun.add(0, Message.user(NOTHING));
        }
        return AlternatingRoles.alternating(begun, message -> true);
    }

    /**
     * An id or a name that every service accepts. If the input must be changed, the result includes a digest, so that
     * different inputs have different results.
     */
    public static String accepted(String idOrName) {
        if (ACCEPTED.matcher(idOrName).matches()) {
            return idOrName;
        }
        String digest = Sha256.hex(idOrName).substring(0, 12);
        String rest = idOrName.replaceAll("[^A-Za-z0-9_-]", "_");
        return rest.substring(0, Math.min(rest.length(), LONGEST_NAME - digest.length() - 1)) + "_" + digest;
    }

    /** The text, or a placeholder if there is none. */
    public static String worded(String text) {
        return text.isBlank() ? NOTHING : text;
    }

    /** The arguments of a call. Services accept only an object, so other values are wrapped. */
    public static Json arguments(Part.ToolUse use) {
        return use.input().isObject() ? use.input() : Json.of(Map.of("value", use.input()));
    }
}
