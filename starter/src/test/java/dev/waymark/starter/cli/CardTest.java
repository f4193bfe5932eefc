package dev.waymark.starter.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.starter.Tale;
import org.junit.jupiter.api.Test;

class CardTest {
    @Test
    void card_waitingThread_saysHowToAnswer() {
        Tale tale = Tale.resolved("ask_user")
                .says("m1", "Book it")
                .callsModel()
                .asks("tu_7", "Which day?")
                .says("m2", "Hurry");

        assertThat(Card.of(tale.timeline()))
                .containsExactly(
                        "t1: assistant, turn 1, interrupted",
                        "1 model calls, 41 tokens in, 12 out",
                        "",
                        "> Book it",
                        "  -> ask_user {\"question\": \"Which day?\"}  [tu_7]",
                        "> (queued) Hurry",
                        "? Which day?",
                        "  waymark answer t1 TEXT");
    }

    @Test
    void card_completeThread_showsTheConversation() {
        Tale tale = Tale.resolved("ask_user")
                .says("m1", "Book it")
                .callsModel()
                .asks("tu_7", "Which day?")
                .answers("tu_7", "Friday")
                .callsModel()
                .replies("Booked.");

        assertThat(Card.of(tale.closed()))
                .containsExactly(
                        "t1: assistant, turn 1, complete, closed",
                        "2 model calls, 82 tokens in, 24 out",
                        "",
                        "> Book it",
                        "  -> ask_user {\"question\": \"Which day?\"}  [tu_7]",
                        "  <- Friday  [tu_7]",
                        "Booked.");
    }
}
