package dev.waymark.worker.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.conversation.message.Reply;
import dev.waymark.model.ModelProvider;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ModelProvidersTest {

    private static final ModelProvider SILENT = request -> Reply.of();
    private static final ModelProviders PROVIDERS = ModelProviders.of(Map.of("silent", SILENT));

    @Test
    void find_modelWithColons_takesTheFirstApart() {
        assertThat(PROVIDERS.find("silent:a:b"))
                .isEqualTo(Optional.of(new ModelProviders.Bound(SILENT, "a:b", Optional.empty())));
    }

    @ParameterizedTest
    @ValueSource(strings = {"silent", "silent:", ":x", "", "loud:x"})
    void find_unknownOrMalformed_isEmpty(String spec) {
        assertThat(PROVIDERS.find(spec)).isEmpty();
    }

    @Test
    void of_nameWithColon_throws() {
        assertThatThrownBy(() -> ModelProviders.of(Map.of("a:b", SILENT)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a:b");
    }
}
