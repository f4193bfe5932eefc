package dev.waymark.worker.model.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ProviderServiceTest {
    private static final String HOME = "https://models.example/v1";

    @Test
    void withoutKey_secret_isMasked() {
        assertThat(service("sk-0123456789").withoutKey("wrong key sk-0123456789."))
                .isEqualTo("wrong key [key].");
    }

    @Test
    void withoutKey_shortWordAsKey_isNotMasked() {
        assertThat(service("none").withoutKey("{\"text\":\"none of them\"}")).isEqualTo("{\"text\":\"none of them\"}");
    }

    @Test
    void at_baseWithOrWithoutASlash_isEqual() throws Exception {
        for (String base :
                new String[] {"http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1/", " http://127.0.0.1:1/v1 "}) {
            assertThat(ProviderService.of("some", HOME, Map.of("SOME_BASE_URL", base))
                            .at("chat/completions")
                            .toString())
                    .isEqualTo("http://127.0.0.1:1/v1/chat/completions");
        }
    }

    @Test
    void lacks_blankKey_countsAsMissing() {
        assertThat(service(" ").lacks()).contains("SOME_API_KEY is not set");
    }

    private static ProviderService service(String key) {
        return ProviderService.of("some", HOME, Map.of("SOME_API_KEY", key));
    }
}
