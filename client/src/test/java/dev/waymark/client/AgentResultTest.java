package dev.waymark.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.checkpoint.RunnerCheckpoint;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.testkit.ThreadFixture;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AgentResultTest {
    private final ThreadFixture tale =
            ThreadFixture.resolved("ask_user").says("m1", "Book it").callsModel();

    @Test
    void interrupted_namesTheFirstQuestionAndItsCall() {
        tale.replies(ThreadFixture.ask("tu_7", "Which day?"), ThreadFixture.ask("tu_8", "Which room?"));
        AgentResult result = result();

        assertThat(AgentResult.isInterrupted(result)).isTrue();
        assertThat(((AgentResult.Interrupted) result).question()).isEqualTo("Which day?");
        assertThat(result.checkpoint().field("pendingToolUseId")).isEqualTo("tu_7");
        assertThat(result.iterations()).isEqualTo(1);
    }

    @Test
    void complete_checkpointHasNoPendingCall() {
        tale.replies("Done.");

        assertThat(result().checkpoint().value())
                .isEqualTo(Map.of(
                        "messages", RunnerCheckpoint.messages(tale.now()),
                        "iterations", 1L,
                        "usage", Map.of("inputTokens", 41L, "outputTokens", 12L)));
    }

    @Test
    void messages_areTyped() {
        tale.replies("Done.");

        assertThat(result().messages()).last().isEqualTo(Message.assistant(new Part.Text("Done.")));
    }

    @Test
    void assertComplete_complete_returnsIt() {
        tale.replies("Done.");

        assertThat(AgentResult.assertComplete(result()).text()).isEqualTo("Done.");
    }

    @Test
    void assertComplete_interrupted_throwsWithTheQuestion() {
        tale.asks("tu_7", "Which day?");

        assertThatThrownBy(() -> AgentResult.assertComplete(result()))
                .isInstanceOf(WaymarkException.Interrupted.class)
                .hasMessage("Agent interrupted: Which day?");
    }

    @Test
    void assertComplete_failed_throwsWithTheReason() {
        tale.fails("overloaded");

        assertThatThrownBy(() -> AgentResult.assertComplete(result()))
                .isInstanceOf(WaymarkException.NotComplete.class)
                .hasMessage("Agent failed: overloaded");
    }

    @Test
    void runningTurn_ofAClosedThread_isFailed() {
        assertThat(result().status()).isEqualTo("failed");
    }

    private AgentResult result() {
        return AgentResult.of("t1", "run-1", tale.now(), tale.now().turn());
    }
}
