package dev.waymark.starter.chat;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.client.ThreadEvent;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.fixtures.ThreadFixture;
import dev.waymark.timeline.Moment;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ChatScreenTest {
    private final FakeConsole console = new FakeConsole();
    private final ChatScreen screen = new ChatScreen(console);

    @Test
    void question_isShownOnceWithTheTextBeforeIt() {
        happens(ThreadFixture.resolved("ask_user")
                .says("m1", "Book")
                .callsModel()
                .asks("tu_7", "Which day?"));

        assertThat(console.shown).containsExactly("> Book", "Which day?");
        assertThat(screen.open()).extracting(item -> item.callId()).containsExactly("tu_7");
    }

    @Test
    void approval_isShownWithArgumentsAndHowToDecide() {
        happens(ThreadFixture.charging().says("m1", "Pay").callsModel().charges("tu_1", 500));

        assertThat(console.shown).containsExactly("> Pay", "May charge_card {\"cents\": 500} run?");
        assertThat(console.notes).containsExactly("  y or n? Or /approve tu_1 or /deny tu_1 --reason TEXT");
    }

    @Test
    void approvedElsewhere_isReportedAndTheCallDisappears() {
        happens(ThreadFixture.charging()
                .says("m1", "Pay")
                .callsModel()
                .charges("tu_1", 500)
                .isApproved("tu_1", "ann"));

        assertThat(console.notes).endsWith("[tu_1] approved by ann");
        assertThat(screen.open()).isEmpty();
    }

    @Test
    void failedTurn_saysHowToTryAgain() {
        happens(ThreadFixture.resolved().says("m1", "Hi").callsModel().fails("overloaded"));

        assertThat(console.notes).containsExactly("waymark: the turn failed: overloaded. Try again with: /retry");
    }

    @Test
    void escapeCodes_doNotReachTheTerminal() {
        happens(ThreadFixture.resolved().says("m1", "Hi").callsModel().replies("red \u001b[31m\nline"));

        assertThat(console.shown).containsExactly("> Hi", "│ red \\u001b[31m", "│ line");
    }

    @Test
    void replyThatImitatesARequest_isQuoted() {
        happens(ThreadFixture.resolved()
                .says("m1", "Hi")
                .callsModel()
                .replies("Done.\nMay charge_card {\"cents\": 5} run?\n  y or n? Or /approve tu_1"));

        assertThat(console.shown)
                .containsExactly(
                        "> Hi", "│ Done.", "│ May charge_card {\"cents\": 5} run?", "│   y or n? Or /approve tu_1");
    }

    @Test
    void messageOfAnotherPersonThatImitatesARequest_isMarkedOnEveryLine() {
        happens(ThreadFixture.resolved().says("m1", "Hi\nMay charge_card {\"cents\": 5} run?"));

        assertThat(console.shown).containsExactly("> Hi", "> May charge_card {\"cents\": 5} run?");
    }

    @Test
    void nameOfAnApproverThatImitatesARequest_isOnOneLine() {
        happens(ThreadFixture.charging()
                .says("m1", "Pay")
                .callsModel()
                .charges("tu_1", 500)
                .isApproved("tu_1", "ann\nMay charge_card {\"cents\": 5} run?"));

        assertThat(console.notes).endsWith("[tu_1] approved by ann May charge_card {\"cents\": 5} run?");
    }

    @Test
    void replyOfAStoppedTurn_isNotShown() {
        happens(ThreadFixture.resolved()
                .says("m1", "Hi")
                .callsModel()
                .then(new PersonFact.Stopped(Optional.empty()))
                .replies("Late."));

        assertThat(console.shown).containsExactly("> Hi");
        assertThat(console.notes).containsExactly("stopped. Send another message, or /retry");
    }

    @Test
    void stoppedReply_isMarkedAlsoAfterRestart() {
        ThreadFixture fixture = ThreadFixture.resolved()
                .says("m1", "Hi")
                .callsModel()
                .then(new PersonFact.Stopped(Optional.of("It rains in"), Optional.empty()));
        happens(fixture);
        screen.begin(fixture.timeline());

        assertThat(console.shown).containsExactly("> Hi", "│ It rains in", "> Hi", "│ It rains in");
        assertThat(console.notes)
                .containsExactly("stopped here", "stopped. Send another message, or /retry", "stopped here");
    }

    @Test
    void textOfAnotherAttempt_replacesTheFirst() {
        screen.streams(words(1, "One "));
        screen.streams(words(1, "more"));
        screen.streams(words(2, "Anew"));

        assertThat(console.passing).containsExactly("One ", "One more", "Anew");
    }

    @Test
    void restart_showsTheEndAndAsksAgain() {
        ThreadFixture fixture = ThreadFixture.resolved("ask_user");
        for (int i = 1; i <= 4; i++) {
            fixture.says("m" + i, "Hello " + i).callsModel().replies("Hi " + i + ".");
        }
        fixture.says("m5", "Book").callsModel().asks("tu_7", "Which day?");

        screen.begin(fixture.timeline());

        assertThat(console.shown)
                .containsExactly(
                        "> Hello 3",
                        "│ Hi 3.",
                        "> Hello 4",
                        "│ Hi 4.",
                        "> Book",
                        "· ask_user {\"question\": \"Which day?\"}",
                        "Which day?");
        assertThat(console.notes).containsExactly("… 4 earlier: waymark show t1");
    }

    private void happens(ThreadFixture fixture) {
        for (Moment moment : fixture.moments()) {
            screen.happened("t1", moment);
        }
    }

    private static ThreadEvent words(int attempt, String text) {
        return new ThreadEvent.Said(new ThreadEvent.TextDelta("run-1", 9, Instant.EPOCH, attempt, 0, text));
    }
}
