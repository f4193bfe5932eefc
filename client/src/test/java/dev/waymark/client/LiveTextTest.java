package dev.waymark.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.client.LiveText.Heard;
import dev.waymark.contract.work.PartialReply;
import dev.waymark.contract.work.PartialReply.Piece;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LiveTextTest {
    @Test
    void heard_growingReply_isReportedPieceByPiece() {
        assertThat(told(reply(1, 0, "Hel"), reply(1, 0, "Hello, "), reply(1, 0, "Hello, "), reply(1, 0, "Hello, you")))
                .containsExactly("Hel", "lo, ", "you");
    }

    @Test
    void heard_endOfALongReply_reportsOnlyNewText() {
        assertThat(told(reply(1, 0, "abcdef"), reply(1, 4, "efgh"), reply(1, 20, "uvw"), reply(1, 22, "wx")))
                .containsExactly("abcdef", "gh", "uvw", "x");
    }

    @Test
    void heard_anotherAttempt_beginsAnew() {
        assertThat(told(reply(1, 0, "Hel"), reply(2, 0, ""), reply(2, 0, "Goo"), reply(2, 0, "Good day")))
                .containsExactly("Hel", "", "Goo", "d day");
    }

    @Test
    void heard_earlierAttempt_isSkipped() {
        assertThat(told(reply(2, 0, "Goo"), reply(1, 0, "Hello"), reply(2, 0, "Good")))
                .containsExactly("Goo", "d");
    }

    /** The heartbeat is a second old, and the worker has reported more text since. */
    @Test
    void heard_outdatedHeartbeat_repeatsNothing() {
        assertThat(told(reply(1, 0, "Hello, you"), reply(1, 0, "Hel"), reply(1, 0, "Hello, you too")))
                .containsExactly("Hello, you", " too");
    }

    @Test
    void heard_emptyReply_isNotReported() {
        assertThat(told(reply(1, 0, ""), reply(2, 0, ""))).isEmpty();
    }

    @Test
    void heard_reasoning_isReportedLikeText_andDiscardedWithIt() {
        assertThat(told(
                        thinking(1, 0, "Let me"),
                        thinking(1, 4, "me see"),
                        reply(1, 0, "Hello"),
                        thinking(2, 0, "Now"),
                        reply(3, 0, "")))
                .containsExactly("(Let me)", "( see)", "Hello", "(Now)", "", "");
    }

    private static PartialReply thinking(int attempt, int from, String text) {
        return PartialReply.shown(1, attempt, new Piece(0, ""), Optional.of(new Piece(from, text)), List.of());
    }

    private static PartialReply reply(int attempt, int from, String text) {
        return new PartialReply(1, attempt, from, text, Optional.empty());
    }

    private static List<String> told(PartialReply... replies) {
        List<String> told = new ArrayList<>();
        Heard heard = Heard.NOTHING;
        for (PartialReply reply : replies) {
            if (heard.isPast(reply)) {
                continue;
            }
            heard.newReasoning(reply).ifPresent(words -> told.add("(" + words.text() + ")"));
            heard.newText(reply).ifPresent(words -> told.add(words.text()));
            heard = heard.andReasoning(reply).andText(reply);
        }
        return told;
    }
}
