package dev.waymark.conversation.rule;

import static dev.waymark.conversation.rule.ConversationScript.NONE;
import static dev.waymark.conversation.rule.ConversationScript.START;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Queued;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import java.util.List;
import org.junit.jupiter.api.Test;

class RestorationTest {
    private static final Message CALL =
            new Message(Role.ASSISTANT, List.of(new Part.ToolUse("tu_1", "look", Json.EMPTY_OBJECT)));
    private static final Message TWO_CALLS = new Message(
            Role.ASSISTANT,
            List.of(
                    new Part.ToolUse("tu_1", "look", Json.EMPTY_OBJECT),
                    new Part.ToolUse("tu_2", "look", Json.EMPTY_OBJECT)));
    private static final Message ASKED = Message.user("Look");
    private static final Message A = Message.user("A");
    private static final Message B = Message.user("B");
    private static final Message REPLY = new Message(Role.ASSISTANT, List.of(new Part.Text("Done")));

    private static Part.ToolResult result(String callId) {
        return new Part.ToolResult(callId, "seen", false);
    }

    private static Conversation repaired(Message... messages) {
        Restoration restoration = new Restoration(START, true);
        for (Message message : messages) {
            restoration.say(message, NONE, START);
        }
        return restoration.restore();
    }

    @Test
    void messageBeforeAResult_comesBeforeTheMessageAfterIt() {
        Message results = Message.results(List.of(result("tu_1")));
        assertThat(repaired(ASKED, CALL, A, results, B).transcript().messages())
                .containsExactly(ASKED, CALL, results, A, B);
        assertThat(repaired(ASKED, CALL, A, results, B, REPLY).transcript().messages())
                .containsExactly(ASKED, CALL, results, A, B, REPLY);
    }

    @Test
    void messagesBetweenResults_comeAfterAllOfThem_inOrder() {
        Message first = Message.results(List.of(result("tu_1")));
        Message second = Message.results(List.of(result("tu_2")));
        Message both = Message.results(List.of(result("tu_1"), result("tu_2")));
        Message last = Message.user("last");

        assertThat(repaired(ASKED, TWO_CALLS, A, first, B, second, last)
                        .transcript()
                        .messages())
                .containsExactly(ASKED, TWO_CALLS, both, A, B, last);
    }

    @Test
    void messageWithTheResult_comesAfterEarlierMessages() {
        Message resultAndB = new Message(Role.USER, List.of(result("tu_1"), new Part.Text("B")));

        assertThat(repaired(ASKED, CALL, A, resultAndB).transcript().messages())
                .containsExactly(ASKED, CALL, Message.results(List.of(result("tu_1"))), A, B);
    }

    @Test
    void messagesAfterAnOpenCall_areQueuedInOrder() {
        assertThat(repaired(ASKED, CALL, A, B).queue())
                .extracting(Queued::message)
                .containsExactly(A, B);
    }
}
