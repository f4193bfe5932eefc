package dev.waymark.conversation;

/** The words in which a model is told what became of a call. They are part of the checkpoint formats. */
public final class ToolTexts {
    private ToolTexts() {}

    public static String failure(String message) {
        return "Tool error: " + message;
    }

    public static String invalidInput(String tool, String reason) {
        return "Invalid input for tool \"" + tool + "\": " + reason;
    }

    static String tooMany() {
        return failure("too many calls in one reply, of at most " + Conversation.MAX_CALLS);
    }

    static String notFound(String tool, Terms terms) {
        String available = String.join(", ", terms.tools().keySet());
        return "Tool \"" + tool + "\" not found. Available tools: " + (available.isEmpty() ? "none" : available);
    }
}
