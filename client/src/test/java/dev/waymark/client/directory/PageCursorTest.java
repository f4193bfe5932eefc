package dev.waymark.client.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import dev.waymark.client.failure.WaymarkException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PageCursorTest {
    private static final ByteString POSITION = ByteString.copyFromUtf8("{\"RunID\":\"01a2\"}");

    @Test
    void cursor_ofPosition_isParsedToIt() {
        assertThat(PageCursor.parse(PageCursor.of(POSITION))).isEqualTo(POSITION);
    }

    /** Most of these are valid Base64, and some are JSON that a server takes for a page token: null, {}, []. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "garbage",
                "AAAA",
                "!!",
                "bnVsbA",
                "e30",
                "W10",
                "eyJDbG9zZVRpbWUiOiJ4In0",
                "ZTNiMGM0NDI",
                "é"
            })
    void parse_notACursor_isRefused(String text) {
        assertThatThrownBy(() -> PageCursor.parse(text))
                .isInstanceOf(WaymarkException.Refused.class)
                .hasMessage("no such page: " + text);
    }

    @Test
    void parse_truncatedOrExtendedCursor_isRefused() {
        String cursor = PageCursor.of(POSITION);

        for (int end = 0; end < cursor.length(); end++) {
            String cut = cursor.substring(0, end);
            assertThatThrownBy(() -> PageCursor.parse(cut)).isInstanceOf(WaymarkException.Refused.class);
        }
        assertThatThrownBy(() -> PageCursor.parse(cursor + "AAAA")).isInstanceOf(WaymarkException.Refused.class);
    }
}
