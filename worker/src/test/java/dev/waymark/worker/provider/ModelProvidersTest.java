package dev.waymark.worker.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.FallbackModel;
import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.message.Reply;
import dev.waymark.model.ModelProvider;
import dev.waymark.worker.model.ModelChecks;
import dev.waymark.worker.model.openai.OpenAiProvider;
import dev.waymark.worker.model.openai.ResponsesProvider;
import dev.waymark.worker.model.table.ModelTable;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ModelProvidersTest {

    private static final ModelProvider SILENT = request -> Reply.of();
    private static final ModelProviders PROVIDERS = ModelProviders.of(Map.of("silent", SILENT));

    @Test
    void find_modelWithColons_splitsAtTheFirst() {
        assertThat(PROVIDERS.find("silent:a:b"))
                .isEqualTo(Optional.of(new ModelProviders.Bound(
                        "silent:a:b", SILENT, "a:b", ModelTable.builtIn().of("silent:a:b"))));
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

    @Test
    void openai_dependsOnTheAddress() {
        ModelProviders home = ModelProviders.from(Map.of("OPENAI_API_KEY", "k"));
        ModelProviders elsewhere = ModelProviders.from(Map.of("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1"));

        assertThat(home.find("openai:m").orElseThrow().provider()).isInstanceOf(ResponsesProvider.class);
        assertThat(elsewhere.find("openai:m").orElseThrow().provider()).isInstanceOf(OpenAiProvider.class);
        assertThat(home.find("openai-chat:m").orElseThrow().provider()).isInstanceOf(OpenAiProvider.class);
        assertThat(elsewhere.find("openai-responses:m").orElseThrow().provider())
                .isInstanceOf(ResponsesProvider.class);
        assertThat(List.of("openai:m", "openai-responses:m", "openai-chat:m"))
                .extracting(home::oneName)
                .containsExactly("openai:m", "openai:m", "openai-chat:m");
        assertThat(elsewhere.oneName("openai-chat:m")).isEqualTo("openai:m");
        assertThat(home.plus(Map.of("openai", SILENT))
                        .find("openai:m")
                        .orElseThrow()
                        .provider())
                .isEqualTo(SILENT);
    }

    @ParameterizedTest
    @CsvSource({
        "openai-chat:gpt-5.4, , ''",
        "openai-chat:gpt-5.4, none, ''",
        "openai-chat:gpt-5.4, low, 'openai-chat:gpt-5.4 refuses tools with reasoning in chat completions. Write model:"
                + " openai-responses:gpt-5.4, or options: { effort: none }'",
        "openai-chat:gpt-6-sol, , 'openai-chat:gpt-6-sol refuses tools with reasoning in chat completions. Write model:"
                + " openai-responses:gpt-6-sol, or options: { effort: none }'",
        "openai-chat:gpt-6-sol, none, ''",
        "openai:gpt-6-sol, , ''",
        "openai-chat:gpt-4.1, low, ''"
    })
    void toolsRefusedInChatCompletions_areReported(String model, String effort, String words) {
        ModelOptions options = effort == null ? ModelOptions.NONE : ModelOptions.NONE.withEffort(effort);
        AgentSpec agent = AgentSpec.of("a", model, ToolSpec.java("look").build())
                .with()
                .options(options)
                .build();

        assertThat(String.join("", new ModelChecks(ModelProviders.from(Map.of())).refusingTools(agent)))
                .isEqualTo(words);
    }

    @Test
    void lacks_namesWhatModelAndFallbacksNeed() {
        ModelProviders keyless = ModelProviders.from(Map.of());
        AgentSpec agent = AgentSpec.of("a", "openai:m-1")
                .with()
                .fallback(List.of(FallbackModel.of("openai-responses:m-1"), FallbackModel.of("anthropic:m-1")))
                .build();

        assertThat(keyless.lacks(agent)).contains("OPENAI_API_KEY is not set");
        assertThat(keyless.fallbacksLack(agent)).containsExactly("ANTHROPIC_API_KEY is not set");
        assertThat(ModelProviders.from(Map.of("OPENAI_API_KEY", "k", "ANTHROPIC_API_KEY", "k"))
                        .fallbacksLack(agent))
                .isEmpty();
    }
}
