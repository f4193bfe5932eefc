package dev.waymark.server.front;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Transcript;

/** The ids of messages that this server assigns. */
public final class MessageIds {
    private static final String OWN = "wm-";

    private MessageIds() {}

    /** Whether this server assigned the id: such a message is not a new user message. */
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

    public static String ofResult(String callId) {
        return OWN + "r-" + callId;
    }
}
