package dev.waymark.worker.model.price;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.Pricing;
import dev.waymark.worker.yaml.YamlProblem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PriceTableTest {
    @TempDir
    Path directory;

    private Path file(String text) throws IOException {
        return Files.writeString(directory.resolve("prices.yaml"), text);
    }

    @Test
    void builtIn_knowsModelsWithAndWithoutADay() {
        Pricing haiku = Pricing.of("1", "5").withCache("0.1", "1.25");

        assertThat(PriceTable.builtIn().of("anthropic:claude-haiku-4-5")).contains(haiku);
        assertThat(PriceTable.builtIn().of("anthropic:claude-haiku-4-5-20251001"))
                .contains(haiku);
        assertThat(PriceTable.builtIn().of("openai:claude-haiku-4-5")).isEmpty();
    }

    @Test
    void file_goesBeforeTheBuiltInPrices_andKeepsTheOthers() throws Exception {
        PriceTable prices = PriceTable.read(file("""
                anthropic:
                  claude-haiku-4-5: { input: 0.9, output: 4.5 }
                local:
                  llama: { input: 0, output: 0 }
                """));

        assertThat(prices.of("anthropic:claude-haiku-4-5")).contains(Pricing.of("0.9", "4.5"));
        assertThat(prices.of("local:llama")).contains(Pricing.FREE);
        assertThat(prices.of("openai:gpt-5")).isEqualTo(PriceTable.builtIn().of("openai:gpt-5"));
    }

    @Test
    void file_withAReleaseDate_appliesToThatReleaseOnly() throws Exception {
        PriceTable prices = PriceTable.read(file("""
                anthropic:
                  claude-haiku-4-5-20251001: { input: 0.5, output: 2 }
                openai:
                  gpt-5-2025-08-07: { input: 3, output: 4 }
                """));

        assertThat(prices.of("anthropic:claude-haiku-4-5-20251001")).contains(Pricing.of("0.5", "2"));
        assertThat(prices.of("anthropic:claude-haiku-4-5-20260101"))
                .isEqualTo(PriceTable.builtIn().of("anthropic:claude-haiku-4-5"));
        assertThat(prices.of("openai-responses:gpt-5-2025-08-07")).contains(Pricing.of("3", "4"));
    }

    @Test
    void file_withMistakes_isRefusedWithEveryLine() throws Exception {
        Path file = file("""
                anthropic:
                  claude-haiku-4-5: { input: 1, output: -5 }
                  claude-opus-5: { input: 5, ouput: 25 }
                openai: 7
                """);

        assertThatThrownBy(() -> PriceTable.read(file)).isInstanceOfSatisfying(YamlProblem.class, problem -> {
            assertThat(problem).hasMessageStartingWith(file + ":2: anthropic.claude-haiku-4-5.output: expected 0");
            assertThat(problem.others())
                    .extracting(YamlProblem::getMessage)
                    .anyMatch(words -> words.contains(":3: ") && words.contains("Did you mean \"output\"?"))
                    .anyMatch(words -> words.contains(":4: openai: "));
        });
    }

    @Test
    void model_throughAnotherApiOfItsService_costsTheSame() {
        PriceTable table = PriceTable.builtIn();

        assertThat(table.of("openai-responses:gpt-5-2026-01-01"))
                .isEqualTo(table.of("openai:gpt-5"))
                .isPresent();
        assertThat(table.of("openai-responses:unheard-of")).isEmpty();
    }
}
