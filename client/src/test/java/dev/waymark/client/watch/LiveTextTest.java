package dev.waymark.client.watch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.client.watch.LiveText.Heard;
import dev.waymark.contract.work.PartialReply;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LiveTextTest {
    @Test
    void heard_growingReply_isToldPieceByPiece() {
        assertThat(told(reply(1, 0, "Hel"), reply(1, 0, "Hello, "), reply(1, 0, "Hello, "), reply(1, 0, "Hello, you")))
                .containsExactly("Hel", "lo, ", "you");
    }

    @Test
    void heard_onlyTheEndOfALongReply_isWhatIsNewInIt() {
        assertThat(told(reply(1, 0, "abcdef"), reply(1, 4, "efgh"), reply(1, 20, "uvw"), reply(1, 22, "wx")))
                .containsExactly("abcdef", "gh", "uvw", "x");
    }

    @Test
    void heard_anotherAttempt_beginsAnew() {
        assertThat(told(reply(1, 0, "Hel"), reply(2, 0, ""), reply(2, 0, "Goo"), reply(2, 0, "Good day")))
                .containsExactly("Hel", "", "Goo", "d day");
    }

    @Test
    void heard_attemptBeforeTheOneThatSpeaks_isPassedOver() {
        assertThat(told(reply(2, 0, "Goo"), reply(1, 0, "Hello"), reply(2, 0, "Good")))
                .containsExactly("Goo", "d");
    }

    /** The heartbeat is a second old, and the worker has told more since. */
    @Test
    void heard_heartbeatThatIsOlderThanTheWords_repeatsNothing() {
        assertThat(told(reply(1, 0, "Hello, you"), reply(1, 0, "Hel"), reply(1, 0, "Hello, you too")))
                .containsExactly("Hello, you", " too");
    }

    @Test
    void heard_nothingYet_isNotTold() {
        assertThat(told(reply(1, 0, ""), reply(2, 0, ""))).isEmpty();
    }

    private static PartialReply reply(int attempt, int from, String text) {
        return new PartialReply(1, attempt, from, text, Optional.empty());
    }

    private static List<String> told(PartialReply... replies) {
        List<String> told = new ArrayList<>();
        Heard heard = Heard.NOTHING;
        for (PartialReply reply : replies) {
            heard.newIn(reply).ifPresent(words -> told.add(words.text()));
            heard = heard.and(reply);
        }
        return told;
    }
}
