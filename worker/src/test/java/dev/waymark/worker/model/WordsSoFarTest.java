package dev.waymark.worker.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.PartialReply;
import org.junit.jupiter.api.Test;

class WordsSoFarTest {
    private final WordsSoFar words = new WordsSoFar(7, 3);

    @Test
    void now_before_isNothing() {
        assertThat(words.now()).isEqualTo(new PartialReply(7, 3, 0, ""));
    }

    @Test
    void now_shortText_isAllOfIt() {
        words.add("Hello, ");
        words.add("world.");

        assertThat(words.now()).isEqualTo(new PartialReply(7, 3, 0, "Hello, world."));
    }

    @Test
    void now_longText_isItsEnd() {
        words.add("x".repeat(16_384));
        words.add("yz");

        assertThat(words.now()).isEqualTo(new PartialReply(7, 3, 2, "x".repeat(16_382) + "yz"));
    }

    @Test
    void now_characterInTwoPieces_isShownWhenItIsWhole() {
        words.add("Hm \ud83e");
        assertThat(words.now().text()).isEqualTo("Hm ");
        words.add("\udd14");
        assertThat(words.now().text()).isEqualTo("Hm 🤔");
    }

    @Test
    void now_cutInACharacter_leavesItOut() {
        words.add("🤔".repeat(8_193));
        words.add("x");

        assertThat(words.now()).isEqualTo(new PartialReply(7, 3, 4, "🤔".repeat(8_191) + "x"));
    }

    @Test
    void now_halfACharacter_canBeWritten() {
        words.add("\ud83ex");

        assertThat(words.now().text()).isEqualTo("?x");
    }
}
