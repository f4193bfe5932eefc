package dev.waymark.display;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.value.Json;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SafeTextTest {
    @ParameterizedTest
    @ValueSource(
            ints = {
                0x00, 0x07, 0x08, 0x1B, 0x7F, 0x80, 0x9B, 0x9D, 0xAD, 0x34F, 0x61C, 0x115F, 0x180E, 0x200B, 0x200C,
                0x200D, 0x200E, 0x200F, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2060, 0x2061, 0x2066, 0x2067, 0x2068,
                0x2069, 0x206A, 0x2800, 0x3164, 0xFE00, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF9, 0xD800, 0xE0001, 0xE0041,
                0xE0100
            })
    void invisibleCharacter_isShownAsItsEscape(int character) {
        String text = "a" + new String(Character.toChars(character)) + "b";

        assertThat(SafeText.line(text)).matches("a(\\\\u[0-9a-f]{4}){1,2}b");
        assertThat(SafeText.lines(text)).isEqualTo(SafeText.line(text));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"\n", "\r\n", "\r", "\u2028", "\u2029", "\u0085", "\u000b", "\f", "\t", "  ", "\u00a0", "\u3000"
            })
    void lineBreaksAndSpaces_onOneLine_areOneSpace(String breaks) {
        assertThat(SafeText.line(" one" + breaks + "two\n")).isEqualTo("one two");
    }

    @Test
    void lines_keepsLineBreaks_andEscapesOtherCursorMovements() {
        assertThat(SafeText.lines("one\r\ntwo\n\tthree\rfour\u2028five\u0085"))
                .isEqualTo("one\ntwo\n\tthree\\u000dfour\\u2028five\\u0085");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Grüße, 日本語, שלום, مرحبا",
                "👩‍👩‍👧 ❤️ 👍🏽 1️⃣ ⚠️ done ✅",
                "می‌خواهم",
                "क्‍ष",
                "a != b, 50 %, x²"
            })
    void ordinaryText_isUnchanged(String text) {
        assertThat(SafeText.line(text)).isEqualTo(text);
    }

    @Test
    void json_showsLettersAndEscapesTheRest() {
        String canonical = Json.of(Map.of("to", "Ann Müller\u202E\u001b[2J\n日本", "path", "C:\\u0041\""))
                .canonical();

        assertThat(SafeText.json(canonical))
                .isEqualTo("{\"path\": \"C:\\\\u0041\\\"\", \"to\": \"Ann Müller\\u202e\\u001b[2J\\n日本\"}");
    }

    @Test
    void excerpt_saysHowMuchIsMissing_andNeverSplitsACharacter() {
        assertThat(Excerpt.of("short", 5)).isEqualTo(new Excerpt("short", false));
        assertThat(Excerpt.of("x".repeat(3_012), 250).text())
                .isEqualTo("x".repeat(250) + "… (cut: 250 of 3,012 characters)");
        assertThat(Excerpt.of("a😀b", 2).text()).isEqualTo("a… (cut: 1 of 4 characters)");
        assertThat(Excerpt.line("x\ny".repeat(10_000), 5).text()).isEqualTo("x yx … (cut: 5 of 30,000 characters)");
        assertThat(Excerpt.line(" ".repeat(9) + "😀" + "x".repeat(9), 5).text())
                .isEqualTo("… (cut: 0 of 20 characters)");
    }
}
