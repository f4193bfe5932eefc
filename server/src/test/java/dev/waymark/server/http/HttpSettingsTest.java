package dev.waymark.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HttpSettingsTest {
    private static final HttpSettings SETTINGS = HttpSettings.at("127.0.0.1", 0);

    @Test
    void webUi_losesItsTrailingSlash() {
        assertThat(SETTINGS.withWebUi(Optional.of("https://temporal.example/ui//"))
                        .webUi())
                .contains("https://temporal.example/ui");
    }

    /** The console makes a link from it. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "javascript:alert(1)",
                "temporal.example",
                "//temporal.example",
                "https:/nohost",
                "http://ann:secret@temporal.example",
                "http://temporal.example?a=b",
                "http://temporal.example#a",
                "http://a b",
                ""
            })
    void webUi_invalidAddress_isRefused(String address) {
        assertThatThrownBy(() -> SETTINGS.withWebUi(Optional.of(address)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("not an http or https address: " + address);
    }
}
