package dev.waymark.display;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SuggestionTest {
    private static final List<String> KNOWN =
            List.of("model", "max_tokens", "pending", "sessions", "say", "save", "--timeout");

    @ParameterizedTest
    @CsvSource({
        "modle,model",
        "mdel,model",
        "max_token,max_tokens",
        "pendign,pending",
        "sess,sessions",
        "--timout,--timeout",
        "Model,model"
    })
    void typo_isRecognized(String typed, String meant) {
        assertThat(Suggestion.question(typed, KNOWN)).isEqualTo("Did you mean \"" + meant + "\"?");
    }

    @Test
    void differentWord_hasNoSuggestion() {
        assertThat(Suggestion.of("budget", KNOWN)).isEmpty();
        assertThat(Suggestion.question("xyz", KNOWN)).isEmpty();
    }
}
