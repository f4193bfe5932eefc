package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Fact;
import dev.waymark.conversation.Json;
import dev.waymark.conversation.Message;
import dev.waymark.conversation.Part;
import dev.waymark.conversation.Reply;
import dev.waymark.conversation.Terms;
import dev.waymark.conversation.Usage;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CardTest {
    private static final Instant AT = Instant.parse("2026-05-01T09:00:00Z");

    @Test
    void question_isShownWithTheWayToAnswer() {
        assertThat(card(ask("tu_1", "Thursday or Friday?")))
                .startsWith("**Waiting for an answer**\n\n> Thursday or Friday?\n\n")
                .contains(
                        "To answer: open *History*, then *More Actions → Send a Signal →* `answer`, with the JSON input `\"your answer\"`")
                .contains("- user: Hello\n", "- agent: → ask\\_user\n")
                .endsWith("`./waymark show t-1`\n");
    }

    @Test
    void severalQuestions_areToldApart() {
        assertThat(card(ask("tu_1", "Which day?"), ask("tu_2", "How many?")))
                .contains("> Which day? (`tu_1`)\n", "> How many? (`tu_2`)\n")
                .contains("`{\"callId\": \"tu_1\", \"answer\": \"your answer\"}`");
    }

    @Test
    void whatTheySaid_isNoMarkdown() {
        assertThat(card(new Part.Text("[here](https://x)\n\n# **Done**"), ask("tu_1", "<b>Pay</b> $1 & $2?")))
                .contains("\\[here\\]\\(https\\://x\\) \\# \\*\\*Done\\*\\*")
                .contains("> \\<b\\>Pay\\</b\\> \\$1 \\& \\$2?\n");
    }

    @Test
    void toolResult_isShownAsPrinted() {
        Conversation state = after(use("tu_1", "look"), ask("tu_2", "Which?"))
                .apply(new Fact.ToolDispatched("tu_1", 1), AT)
                .apply(new Fact.ToolFinished("tu_1", 1, "{\"a\": \"``b`\"}", false), AT)
                .apply(new Fact.HumanAnswered(Optional.empty(), Optional.empty(), "this", Optional.empty()), AT)
                .apply(new Fact.ModelCalled(2), AT);

        assertThat(new Card("t-1").of(state)).contains("- tools: ```{\"a\": \"``b`\"} this```\n");
    }

    private static String card(Part... reply) {
        return new Card("t-1").of(after(reply));
    }

    private static Conversation after(Part... reply) {
        Terms terms = new Terms("a", 4, Map.of("ask_user", Terms.ToolKind.QUESTION, "look", Terms.ToolKind.ACTIVITY));
        Fact.UserSpoke hello =
                new Fact.UserSpoke(Optional.empty(), Optional.empty(), Optional.of(Message.user("Hello")), false);
        Conversation state = Conversation.start(new Fact.RunStarted(1, "a", false, Optional.empty()), AT);
        for (Fact fact : List.of(
                new Fact.AgentRequested(),
                new Fact.AgentResolved(terms),
                hello,
                new Fact.ModelCalled(1),
                new Fact.ModelReplied(1, new Reply(List.of(reply), new Usage(10, 5), "tool_use")))) {
            state = state.apply(fact, AT);
        }
        return state;
    }

    private static Part.ToolUse ask(String id, String question) {
        return new Part.ToolUse(id, "ask_user", Json.of(Map.of("question", question)));
    }

    private static Part.ToolUse use(String id, String tool) {
        return new Part.ToolUse(id, tool, Json.EMPTY_OBJECT);
    }
}
