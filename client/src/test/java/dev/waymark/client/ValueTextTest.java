package dev.waymark.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.client.connection.ValueText;
import org.junit.jupiter.api.Test;

class ValueTextTest {
    @Test
    void quoted_plainWord_isUnchanged() {
        assertThat(ValueText.quoted("run-1_a/tu_7~2")).isEqualTo("run-1_a/tu_7~2");
    }

    @Test
    void quoted_shellCharacters_areQuoted() {
        assertThat(ValueText.quoted("it's $HOME")).isEqualTo("'it'\\''s $HOME'");
        assertThat(ValueText.quoted("~root")).isEqualTo("'~root'");
        assertThat(ValueText.quoted("")).isEqualTo("''");
    }
}
