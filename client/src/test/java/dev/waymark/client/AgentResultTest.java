package dev.waymark.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.checkpoint.RunnerCheckpoint;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.fixtures.ThreadFixture;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class AgentResultTest {
    private final ThreadFixture fixture =
            ThreadFixture.resolved("ask_user").says("m1", "Book it").callsModel();

    @Test
    void interrupted_namesTheFirstQuestionAndItsCall() {
        fixture.replies(ThreadFixture.ask("tu_7", "Which day?"), ThreadFixture.ask("tu_8", "Which room?"));
        AgentResult result = result();

        assertThat(AgentResult.isInterrupted(result)).isTrue();
        assertThat(((AgentResult.Interrupted) result).question()).isEqualTo("Which day?");
        assertThat(result.checkpoint().field("pendingToolUseId")).isEqualTo("tu_7");
        assertThat(result.iterations()).isEqualTo(1);
    }

    @Test
    void complete_checkpointHasNoPendingCall() {
        fixture.replies("Done.");

        assertThat(result().checkpoint().value())
                .isEqualTo(Map.of(
                        "messages", RunnerCheckpoint.messages(fixture.now()),
                        "iterations", 1L,
                        "usage", Map.of("inputTokens", 41L, "outputTokens", 12L)));
    }

    @Test
    void toString_hasNothingOfTheConversation() {
        AgentResult running = result();
        fixture.asks("tu_7", "Which day?");
        AgentResult asking = result();

        assertThat(running + " " + asking + " "
                        + new AgentResult.Complete(asking.details(), "On Friday", Optional.empty()) + " "
                        + new AgentResult.Cut(asking.details(), "On Fri", new Problem("ReplyCut", "cut")))
                .contains("Failed[", "Interrupted[", "Complete[", "Cut[", "thread=")
                .doesNotContain("Book it", "Which day", "On Fri");
    }

    @Test
    void messages_areTyped() {
        fixture.replies("Done.");

        assertThat(result().messages()).last().isEqualTo(Message.assistant(new Part.Text("Done.")));
    }

    @Test
    void assertComplete_complete_returnsIt() {
        fixture.replies("Done.");

        assertThat(AgentResult.assertComplete(result()).text()).isEqualTo("Done.");
    }

    @Test
    void assertComplete_interrupted_throwsWithTheQuestion() {
        fixture.asks("tu_7", "Which day?");

        assertThatThrownBy(() -> AgentResult.assertComplete(result()))
                .isInstanceOf(WaymarkException.NotComplete.class)
                .hasMessage("Agent interrupted: Which day?")
                .extracting("type")
                .isEqualTo("Interrupted");
    }

    @Test
    void assertComplete_failed_throwsWithTheReason() {
        fixture.fails("overloaded");

        assertThatThrownBy(() -> AgentResult.assertComplete(result()))
                .isInstanceOf(WaymarkException.NotComplete.class)
                .hasMessage("Agent failed: overloaded");
    }

    @Test
    void runningTurn_ofAClosedThread_isFailed() {
        assertThat(result().status()).isEqualTo("failed");
    }

    record Line(LocalDate due) {}

    record Invoice(String customer, List<Line> lines) {}

    private AgentResult.Complete structured(Optional<String> json) throws Exception {
        fixture.replies("Done.");
        Optional<Json> value =
                json.isEmpty() ? Optional.empty() : Optional.of(PayloadJson.MAPPER.readValue(json.get(), Json.class));
        return new AgentResult.Complete(result().details(), "Done.", value);
    }

    @Test
    void structured_isTheRecord() throws Exception {
        String json = "{\"customer\":\"Ann\",\"lines\":[{\"due\":\"2026-12-24\"}]}";

        assertThat(structured(Optional.of(json)).structured(Invoice.class))
                .isEqualTo(new Invoice("Ann", List.of(new Line(LocalDate.of(2026, 12, 24)))));
    }

    @Test
    void structured_thatDoesNotFitTheRecord_namesTheField() throws Exception {
        // The date matches the schema, but the day does not exist.
        String json = "{\"customer\":\"Ann\",\"lines\":[{\"due\":\"2026-12-24\"},{\"due\":\"2026-02-30\"}]}";
        AgentResult.Complete broken = structured(Optional.of(json));

        assertThatThrownBy(() -> broken.structured(Invoice.class))
                .isInstanceOf(WaymarkException.NotComplete.class)
                .hasMessageStartingWith("the reply is no Invoice: /lines/1/due: ");
    }

    @Test
    void structured_withoutSchema_saysWhatToDo() throws Exception {
        AgentResult.Complete text = structured(Optional.empty());

        assertThatThrownBy(() -> text.structured(Invoice.class))
                .hasMessage("the prompt has no schema. Add withSchema(Invoice.class)");
    }

    private AgentResult result() {
        return AgentResult.of("t1", "run-1", fixture.now(), fixture.now().turn());
    }
}
