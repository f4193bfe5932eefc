package dev.waymark.worker.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.work.PartialReply;
import dev.waymark.conversation.value.Spent;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PartialTextTest {
    private final PartialText words = new PartialText(7, 3, Spent.NOTHING, ModelChain.Failed.NOTHING, true);

    @Test
    void now_before_isNothing() {
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
    void now_halfACharacter_canBeWritten() {
        words.words("\ud83ex");

        assertThat(words.now().text()).isEqualTo("?x");
    }
}
