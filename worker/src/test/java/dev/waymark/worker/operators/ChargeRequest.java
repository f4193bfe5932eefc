package dev.waymark.worker.operators;

import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * The message to the model of these tests, which alone determines its replies: a number of calls of a tool, each with a
 * different amount.
 */
record ChargeRequest(String tool, int calls, Ids ids) {
    /** How the model names its calls. */
    enum Ids {
        /** Equal requests get equal ids. */
        SAME,
        /** New ids for each request, as real models do. */
        FRESH,
        /** One id for all calls of a reply. */
        ONE,
        /** One id for all calls, and one call per reply. */
        ONE_IN_TURN
    }

    static ChargeRequest parse(String words) {
        String[] parts = words.split(" ");
        return new ChargeRequest(parts[0], Integer.parseInt(parts[1]), Ids.valueOf(parts[2]));
    }

    String words() {
        return tool + " " + calls + " " + ids;
    }

    static Reply reply(ModelRequest request) {
        List<Message> messages = request.messages();
        int asked = messages.size() - 1;
        while (messages.get(asked).role() != Role.USER
                || !messages.get(asked).toolResults().isEmpty()) {
            asked--;
        }
        ChargeRequest charges = parse(messages.get(asked).text());
        int rounds = (messages.size() - 1 - asked) / 2;
        return charges.reply(rounds);
    }

    private Reply reply(int round) {
        List<Part> parts = new ArrayList<>();
        if (ids == Ids.ONE_IN_TURN) {
            if (round < calls) {
                parts.add(call(round + 1));
            }
        } else if (round == 0) {
            for (int cents = 1; cents <= calls; cents++) {
                parts.add(call(cents));
            }
        }
        if (parts.isEmpty()) {
            parts.add(new Part.Text("Done."));
        }
        return Reply.of(parts.toArray(Part[]::new));
    }

    private Part call(int cents) {
        String id = switch (ids) {
            case SAME -> "tu_" + cents;
            case FRESH -> "tu_" + UUID.randomUUID().toString().substring(0, 8);
            case ONE, ONE_IN_TURN -> "tu";
        };
        return new Part.ToolUse(id, tool, Json.of(Map.of("cents", cents)));
    }
}
