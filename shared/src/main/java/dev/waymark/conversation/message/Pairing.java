package dev.waymark.conversation.message;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The rule of model providers for transcripts: every call has exactly one result, in the message directly after the
 * call, before any other content of that message.
 */
public final class Pairing {
    private Pairing() {}

    /** The first violation of the rule, if any. */
    public static Optional<String> violation(List<Message> messages) {
        Set<String> everUsed = new LinkedHashSet<>();
        List<String> open = List.of();
        for (int i = 0; i < messages.size(); i++) {
            Message message = messages.get(i);
            List<String> answered = message.toolResults().stream()
                    .map(Part.ToolResult::toolUseId)
                    .toList();
            if (!sorted(answered).equals(sorted(open))) {
                return Optional.of("message " + i + ": results for " + answered + " where " + open + " are due");
            }
            if (message.role() == Role.ASSISTANT
                    ? !answered.isEmpty()
                    : !message.toolUses().isEmpty()) {
                return Optional.of("message " + i + ": calls and results are on the wrong side");
            }
            boolean resultsFirst =
                    message.content().stream().limit(answered.size()).allMatch(Part.ToolResult.class::isInstance);
            if (!resultsFirst) {
                return Optional.of("message " + i + ": text before its results");
            }
            open = message.toolUses().stream().map(Part.ToolUse::id).toList();
            for (String id : open) {
                if (id.isEmpty()) {
                    return Optional.of("message " + i + ": a call without an id");
                }
                if (!everUsed.add(id)) {
                    return Optional.of("message " + i + ": call id used twice: " + id);
                }
            }
        }
        return open.isEmpty() ? Optional.empty() : Optional.of("calls without a result: " + open);
    }

    /** The order of results does not matter. */
    private static List<String> sorted(List<String> ids) {
        return ids.stream().sorted().toList();
    }
}
