package dev.waymark.worker.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.work.PartialReply;
import dev.waymark.contract.work.PartialReply.Piece;
import dev.waymark.contract.work.PartialReply.RunningCall;
import dev.waymark.contract.work.WordsRequest;
import dev.waymark.conversation.value.Spent;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ModelAttemptTest {
    private final ModelAttempt words =
            new ModelAttempt(7, 3, Spent.NOTHING, ModelChain.Failed.NOTHING, Optional.empty(), true);

    @Test
    void now_beforeTheFirstWord_isEmpty() {
        assertThat(words.now()).isEqualTo(new PartialReply(7, 3, 0, "", Optional.empty()));
    }

    @Test
    void now_shortText_isAllOfIt() {
        words.words("Hello, ");
        words.words("world.");

        assertThat(words.now()).isEqualTo(new PartialReply(7, 3, 0, "Hello, world.", Optional.empty()));
    }

    @Test
    void now_longText_isItsEnd() {
        words.words("x".repeat(16_384));
        words.words("yz");

        assertThat(words.now()).isEqualTo(new PartialReply(7, 3, 2, "x".repeat(16_382) + "yz", Optional.empty()));
    }

    @Test
    void now_characterInTwoPieces_isShownWhenItIsWhole() {
        words.words("Hm \ud83e");
        assertThat(words.now().text()).isEqualTo("Hm ");
        words.words("\udd14");
        assertThat(words.now().text()).isEqualTo("Hm 🤔");
    }

    @Test
    void now_cutInACharacter_leavesItOut() {
        words.words("🤔".repeat(8_193));
        words.words("x");

        assertThat(words.now()).isEqualTo(new PartialReply(7, 3, 4, "🤔".repeat(8_191) + "x", Optional.empty()));
    }

    @Test
    void since_readerKnowsTheBeginning_isTheRest() {
        words.words("Hello, ");
        words.words("world.");

        assertThat(words.since(call(3, 7, 0))).contains(shown(7, "world.", List.of()));
        assertThat(words.since(call(3, 13, 0))).isEmpty();
        assertThat(words.since(call(3, 99, 0))).isEmpty();
        assertThat(words.since(call(3, -1, 0))).contains(shown(0, "Hello, world.", List.of()));
    }

    @Test
    void since_readerIsBehindTheKeptEnd_isTheEnd() {
        words.words("x".repeat(16_384));
        words.words("yz");

        assertThat(words.since(call(3, 1, 0))).contains(shown(2, "x".repeat(16_382) + "yz", List.of()));
        assertThat(words.since(call(3, 16_385, 0))).contains(shown(16_385, "z", List.of()));
    }

    @Test
    void since_readerKnowsAnEarlierAttempt_beginsAnewEvenWithoutWords() {
        assertThat(words.since(call(2, 5, 0))).contains(shown(0, "", List.of()));
        assertThat(words.since(call(2, 0, 1))).contains(shown(0, "", List.of()));
        assertThat(words.since(call(2, 0, 0))).isEmpty();
        words.words("Good");
        assertThat(words.since(call(2, 5, 0))).contains(shown(0, "Good", List.of()));
    }

    @Test
    void since_runningCalls_areReportedWhenTheyBeginAndEnd() {
        RunningCall look = new RunningCall("tu_1", "look");
        RunningCall listen = new RunningCall("tu_2", "listen");
        words.runs(List.of(look, listen));

        assertThat(words.since(call(0, 0, 0))).contains(shown(0, "", List.of(look, listen)));
        assertThat(words.since(call(3, 0, 2))).isEmpty();
        words.ended(look);
        assertThat(words.since(call(3, 0, 2))).contains(shown(0, "", List.of(listen)));
    }

    @Test
    void isOf_anotherCallOrALaterAttempt_isFalse() {
        assertThat(words.isOf(call(3, 0, 0))).isTrue();
        assertThat(words.isOf(call(4, 0, 0))).isFalse();
        assertThat(words.isOf(new WordsRequest.Call("trip", "run-1", 8, 0, 0, 0, 0)))
                .isFalse();
    }

    @Test
    void firstWord_isReportedOnce() {
        List<String> told = new ArrayList<>();
        words.atFirstWord(() -> told.add("first"));
        words.words("");
        assertThat(told).isEmpty();
        words.words("x".repeat(20_000));
        words.words("y");
        assertThat(told).hasSize(1);
    }

    @Test
    void since_reasoningAndText_continueFromTheReadersPositions() {
        List<String> told = new ArrayList<>();
        words.atFirstWord(() -> told.add("first"));
        words.reasoning("Let me ");
        words.reasoning("see.");
        words.words("Hello");

        assertThat(told).hasSize(1);
        assertThat(words.now().reasoning()).contains(new Piece(0, "Let me see."));
        PartialReply news = words.since(new WordsRequest.Call("trip", "run-1", 7, 3, 2, 7, 0))
                .orElseThrow();
        assertThat(news.said()).isEqualTo(new Piece(2, "llo"));
        assertThat(news.reasoning()).contains(new Piece(7, "see."));
        assertThat(words.since(new WordsRequest.Call("trip", "run-1", 7, 3, 5, 11, 0)))
                .isEmpty();
        assertThat(words.since(new WordsRequest.Call("trip", "run-1", 7, 2, 0, 11, 0)))
                .isPresent();
    }

    private static PartialReply shown(int from, String text, List<RunningCall> running) {
        return PartialReply.shown(7, 3, new Piece(from, text), Optional.empty(), running);
    }

    private static WordsRequest.Call call(int attempt, int characters, int running) {
        return new WordsRequest.Call("trip", "run-1", 7, attempt, characters, 0, running);
    }

    @Test
    void now_halfACharacter_canBeWritten() {
        words.words("\ud83ex");

        assertThat(words.now().text()).isEqualTo("?x");
    }
}
