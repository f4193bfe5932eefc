package dev.waymark.server.front;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Transcript;

/** The ids that the server assigns to messages, for front ends. */
public final class MessageIds {
    private static final String OWN = "wm-";

    private MessageIds() {}

    /** Whether a server assigned the id, so that the message is not a new message of the user. */
    public static boolean isOwn(String id) {
        return id.startsWith(OWN);
    }

    public static String of(Transcript.Entry entry) {
        return OWN + entry.id();
    }

    /** The id of the next model reply in this state. */
    public static String nextReply(Conversation state) {
        return OWN + "m" + (state.counters().messages() + 1);
    }

    /** The id of the reasoning for this message. */
    public static String ofReasoning(String messageId) {
        return messageId + "-thinking";
    }

    public static String ofResult(String callId) {
        return OWN + "r-" + callId;
    }
}
