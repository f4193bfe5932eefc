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

    private static final Pattern REFUSED = Pattern.compile("[^A-Za-z0-9_-]");

    /** The longest call id that all services accept. */
    private static final int LONGEST_ID = 40;

    /** The longest tool name that all services accept, and the longest that an agent can have. */
    private static final int LONGEST_NAME = 64;

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
     * A call id that every service accepts. If the id must be changed, the result includes a digest, so that different
     * ids have different results.
     */
    public static String accepted(String callId) {
        return accepted(callId, LONGEST_ID);
    }

    /** A tool name that every service accepts. The names of an agent's tools are returned unchanged. */
    public static String acceptedName(String tool) {
        return accepted(tool, LONGEST_NAME);
    }

    private static String accepted(String word, int longest) {
        String plain = REFUSED.matcher(word).replaceAll("_");
        if (plain.equals(word) && !word.isEmpty() && word.length() <= longest) {
            return word;
        }
        String digest = Sha256.hex(word).substring(0, 12);
        return plain.substring(0, Math.min(plain.length(), longest - digest.length() - 1)) + "_" + digest;
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
