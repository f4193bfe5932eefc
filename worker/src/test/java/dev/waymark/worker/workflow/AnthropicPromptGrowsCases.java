package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Conversation;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.testkit.model.ModelAnswer.Piece;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Blocks are sent back unchanged. */
abstract class AnthropicPromptGrowsCases extends PromptGrowsCases<AnthropicServer> {
    AnthropicPromptGrowsCases(Supplier<AnthropicServer> start) {
        super(Service.anthropic(start));
    }

    @Test
    void blankText_besideThinkingOnly_isSentBack() {
        stage(thinking().plus(new Piece.Words("\n\n")).plus(thought()));
        try (WorkflowRig rig = rig()) {
            String thread = begin(rig, "Hello");
            say(rig, thread, 2);

            assertNothingLost();
            assertThat(answered.get(1).at("/messages/1/content")).hasSize(3);
        }
    }

    @Test
    void trailingThinking_isSentBack() {
        stage(thoughtful("Yes.").plus(thought()));
        try (WorkflowRig rig = rig()) {
            String thread = begin(rig, "Hello");
            say(rig, thread, 2);

            assertNothingLost();
            assertThat(answered.get(1).at("/messages/1/content/2/type").asText())
                    .isEqualTo("thinking");
        }
    }

    @Test
    void callers_areSentBack() {
        server.namingCallers();
        stage(looking());
        try (WorkflowRig rig = rig()) {
            begin(rig, "Look around.");

            assertNothingLost();
        }
    }

    @Test
    void pausedReply_isContinuedAndRecordedAsOne() {
        stage(
                thinking()
                        .plus(new Piece.Strange("{\"type\":\"server_tool_use\",\"id\":\"srv_1\",\"name\":\"search\","
                                + "\"input\":{\"q\":\"rain\"}}"))
                        .stopping("pause_turn"),
                thinking().stopping("pause_turn"),
                thoughtful("It rains."));
        try (WorkflowRig rig = rig()) {
            String thread = begin(rig, "Weather?");

            Conversation state = rig.timeline(thread).now();
            assertThat(state.turn().text()).isEqualTo("It rains.");
            assertThat(state.transcript().messages()).hasSize(2);
            say(rig, thread, 2);
            assertNothingLost();
            assertThat(breaks()).isEmpty();
        }
    }
}
