package dev.waymark.worker.model.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.Pricing;
import dev.waymark.conversation.value.Usage;
import dev.waymark.worker.yaml.YamlProblem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelTableTest {
    @TempDir
    Path directory;

    private Path file(String text) throws IOException {
        return Files.writeString(directory.resolve("models.yaml"), text);
    }

    @Test
    void builtIn_knowsModelsWithAndWithoutADate() {
        Pricing haiku = Pricing.of("1", "5").withCache("0.1", "1.25");

        assertThat(ModelTable.builtIn().of("anthropic:claude-haiku-4-5").pricing())
                .contains(haiku);
        assertThat(ModelTable.builtIn()
                        .of("anthropic:claude-haiku-4-5-20251001")
                        .pricing())
                .contains(haiku);
        assertThat(ModelTable.builtIn().of("openai:claude-haiku-4-5").pricing()).isEmpty();
    }

    @Test
    void file_overridesBuiltInPricesAndKeepsTheOthers() throws Exception {
        ModelTable prices = ModelTable.read(file("""
                anthropic:
                  claude-haiku-4-5: { input: 0.9, output: 4.5 }
                local:
                  llama: { input: 0, output: 0 }
                """));

        assertThat(prices.of("anthropic:claude-haiku-4-5").pricing()).contains(Pricing.of("0.9", "4.5"));
        assertThat(prices.of("local:llama").pricing()).contains(Pricing.FREE);
        assertThat(prices.of("openai:gpt-5").pricing())
                .isEqualTo(ModelTable.builtIn().of("openai:gpt-5").pricing());
    }

    @Test
    void file_withAReleaseDate_appliesToThatReleaseOnly() throws Exception {
        ModelTable prices = ModelTable.read(file("""
                anthropic:
                  claude-haiku-4-5-20251001: { input: 0.5, output: 2 }
                openai:
                  gpt-5-2025-08-07: { input: 3, output: 4 }
                """));

        assertThat(prices.of("anthropic:claude-haiku-4-5-20251001").pricing()).contains(Pricing.of("0.5", "2"));
        assertThat(prices.of("anthropic:claude-haiku-4-5-20260101").pricing())
                .isEqualTo(ModelTable.builtIn().of("anthropic:claude-haiku-4-5").pricing());
        assertThat(prices.of("openai-responses:gpt-5-2025-08-07").pricing()).contains(Pricing.of("3", "4"));
    }

    @Test
    void file_withMistakes_isRefusedWithEachLine() throws Exception {
        Path file = file("""
                anthropic:
                  claude-haiku-4-5: { input: 1, output: -5 }
                  claude-opus-5: { input: 5, ouput: 25 }
                openai: 7
                """);

        assertThatThrownBy(() -> ModelTable.read(file)).isInstanceOfSatisfying(YamlProblem.class, problem -> {
            assertThat(problem).hasMessageStartingWith(file + ":2: anthropic.claude-haiku-4-5.output: expected 0");
            assertThat(problem.others())
                    .extracting(YamlProblem::getMessage)
                    .anyMatch(words -> words.contains(":3: ") && words.contains("Did you mean \"output\"?"))
                    .anyMatch(words -> words.contains(":4: openai: "));
        });
    }

    @Test
    void file_withPartOfAModel_keepsTheRest() throws Exception {
        ModelTable table = ModelTable.read(file("""
                anthropic:
                  claude-opus-5-5: { max_tokens: 9000, refuses: [sampling] }
                  unheard-of: { context: 5000 }
                """));

        KnownModel opus = table.of("anthropic:claude-opus-5-5");
        assertThat(opus.pricing())
                .isEqualTo(ModelTable.builtIn().of("anthropic:claude-opus-5-5").pricing())
                .isPresent();
        assertThat(opus.maxTokens()).contains(9_000);
        assertThat(opus.context()).contains(1_000_000);
        assertThat(opus.refuses(Unsupported.SAMPLING)).isTrue();
        assertThat(opus.refuses(Unsupported.FORCED_TOOLS)).isFalse();
        assertThat(table.of("anthropic:unheard-of").pricing()).isEmpty();
    }

    @Test
    void unknownRefusal_isReportedWithTheKnownOnes() throws Exception {
        Path file = file("anthropic:\n  m: { refuses: [everything] }");

        assertThatThrownBy(() -> ModelTable.read(file))
                .hasMessageContaining(":2: anthropic.m.refuses[0]: expected one of forced_tools, disabled_thinking,");
    }

    @Test
    void longPrompt_hasThePriceOfItsTier() {
        Pricing haiku =
                ModelTable.builtIn().of("anthropic:claude-haiku-5-5").pricing().orElseThrow();

        assertThat(haiku.of(new Usage(100_000, 1_000)).dollars()).isEqualByComparingTo("0.0105");
        assertThat(haiku.of(new Usage(100_001, 1_000)).dollars()).isEqualByComparingTo("0.0525005");
    }

    @Test
    void cacheOfAnHour_costsTwiceTheInputToWrite() {
        Pricing haiku = ModelTable.builtIn()
                .of("anthropic:claude-haiku-5-5")
                .pricing()
                .orElseThrow()
                .cachedForAnHour();

        assertThat(haiku.of(new Usage(10_000, 0, 0, 10_000)).dollars()).isEqualByComparingTo("0.002");
        assertThat(haiku.of(new Usage(200_000, 0, 0, 200_000)).dollars()).isEqualByComparingTo("0.2");
    }

    @Test
    void model_throughAnotherApiOfItsService_hasTheSamePrice() {
        ModelTable table = ModelTable.builtIn();

        assertThat(table.of("openai-responses:gpt-5-2026-01-01").pricing())
                .isEqualTo(table.of("openai:gpt-5").pricing())
                .isPresent();
        assertThat(table.of("openai-responses:unheard-of").pricing()).isEmpty();
    }
}
