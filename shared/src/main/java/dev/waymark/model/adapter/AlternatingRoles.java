package dev.waymark.model.adapter;

import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** Merges consecutive messages of the same role, since services require user and assistant messages to alternate. */
public final class AlternatingRoles {
    private AlternatingRoles() {}

    /**
     * Merges neighboring messages of the same role.
     *
     * @param says whether an assistant message has content; assistant messages without content are dropped
     */
    public static List<Message> alternating(List<Message> messages, Predicate<Message> says) {
        List<Message> alternating = new ArrayList<>();
        for (Message message : messages) {
            if (message.role() == Role.ASSISTANT && !says.test(message)) {
                continue;
            }
            int last = alternating.size() - 1;
            if (last >= 0 && alternating.get(last).role() == message.role()) {
                List<Part> both = new ArrayList<>(alternating.get(last).content());
                both.addAll(message.content());
                alternating.set(last, new Message(message.role(), both));
            } else {
                alternating.add(message);
            }
        }
        return alternating;
    }
}
