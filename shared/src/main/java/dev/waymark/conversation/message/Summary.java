package dev.waymark.conversation.message;

import java.util.List;
import java.util.stream.Collectors;

/** The message that replaces the older part of a conversation, and the request for it. */
public final class Summary {
    private static final String BEGIN = "[Previous conversation summary]";
    private static final String END = "[End of summary - recent messages follow]";

    /** The instructions for a model that writes a summary. */
    public static final String INSTRUCTIONS = "You summarize conversations between a user and an assistant that uses"
            + " tools. Your summary takes the place of the conversation: the assistant goes on with it and sees nothing"
            + " else of what was said. Keep what the user wants, what was decided, found out and done, names, numbers"
            + " and ids as they were written, and what is still open. Reply with the summary alone.";

    private Summary() {}

    /**
     * The number of the oldest messages that a summary replaces if the newest {@code keep} stay; not positive if there
     * are too few messages. It is one less if a result would otherwise be separated from its call.
     */
    public static int cut(List<Message> messages, int keep) {
        int cut = messages.size() - keep;
        return cut > 0 && !messages.get(cut).toolResults().isEmpty() ? cut - 1 : cut;
    }

    /** Whether the message replaces older ones. */
    public static boolean isOne(Message message) {
        return message.text().startsWith(BEGIN);
    }

    /** The message that replaces the summarized messages. */
    public static Message message(String words) {
        return Message.user(BEGIN + "\n" + words + "\n" + END);
    }

    /**
     * The conversation as one message of text, for the model that summarizes it. Providers accept calls only together
     * with the definitions of their tools, and a model that has tools may call them.
     */
    public static Message request(List<Message> messages) {
        return Message.user(messages.stream().map(Summary::spelled).collect(Collectors.joining("\n\n"))
                + "\n\nSummarize the conversation above.");
    }

    private static String spelled(Message message) {
        String speaker = message.role() == Role.ASSISTANT ? "Assistant" : "User";
        return message.content().stream()
                .map(part -> spelled(speaker, part))
                .filter(line -> !line.isEmpty())
                .collect(Collectors.joining("\n"));
    }

    private static String spelled(String speaker, Part part) {
        if (part instanceof Part.Text text) {
            return speaker + ": " + text.text();
        }
        if (part instanceof Part.ToolUse use) {
            return "Call " + use.id() + ": " + use.name() + " " + use.input().canonical();
        }
        if (part instanceof Part.ToolResult result) {
            return (result.isError() ? "Error of " : "Result of ") + result.toolUseId() + ": " + result.told();
        }
        if (part instanceof Part.Reasoning) {
            return "";
        }
        return speaker + ": [an image]";
    }
}
