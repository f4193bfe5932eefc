package dev.waymark.worker.inbound;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InlineTextTest {

    @Test
    void of_upToTheLimit_isUnchanged() {
        String text = "ä".repeat(InlineText.LIMIT_BYTES / 2);
        assertThat(InlineText.of(text)).isEqualTo(text);
    }

    @Test
    void of_beyondTheLimit_keepsBothEndsAndSaysWhatIsMissing() throws Exception {
        String text = "begin" + "x".repeat(300_000) + "end";
        String inline = InlineText.of(text);
        assertThat(inline)
                .startsWith("beginxxx")
                .endsWith("xxxend")
                .contains("x\n[cut: {\"truncated\":true,\"bytes\":300008,\"sha256\":\"" + sha256(text) + "\"}]\nx")
                .hasSize(InlineText.LIMIT_BYTES);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ä", "€", "😀", "aä€😀"})
    void of_beyondTheLimit_isNotCutInsideACharacter(String pattern) {
        String inline = InlineText.of(pattern.repeat(200_000));
        assertThat(inline).doesNotContain("\ufffd", "?");
        assertThat(inline.getBytes(StandardCharsets.UTF_8))
                .hasSizeBetween(InlineText.LIMIT_BYTES - 8, InlineText.LIMIT_BYTES);
    }

    @Test
    void append_inPieces_equalsTheWhole() {
        String text = "0123456789abcdef€".repeat(40_000);
        InlineText pieces = new InlineText();
        for (int i = 0; i < text.length(); i += 1_000) {
            pieces.append(text.substring(i, Math.min(i + 1_000, text.length())));
        }
        assertThat(pieces.text()).isEqualTo(InlineText.of(text));
    }

    @Test
    void of_loneSurrogate_isReplaced() {
        assertThat(InlineText.of("a\ud800b")).isEqualTo("a?b");
    }

    private static String sha256(String text) throws Exception {
        return HexFormat.of()
                .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    }
}
